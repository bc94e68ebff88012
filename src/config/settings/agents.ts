/** The user's own agents: programs called as a table in pawl.yaml says, each alone or over a preset. */
import { z } from "zod";
import { AGENT_NAMES, isKnown } from "../../agent-entry.ts";
import { commandShape } from "../../spec/command-agent.ts";
import { listOf } from "./kinds.ts";

const agentName = z
  .string("must be the name of an agent")
  .regex(/^[a-z][a-z0-9-]{0,31}$/, "must be the name of an agent: small letters, digits and dashes");

const entry = z
  .strictObject(
    {
      ...commandShape,
      /** A text is its words. */
      command: listOf(commandShape.command.element, /\s+/),
      preset: agentName,
    },
    "must have `command` and `output`, or a `preset`",
  )
  .partial();

export const agentTable = z
  .record(agentName, entry, "must have agents by name")
  .refine(
    (table) => !Object.keys(table).some((name) => isKnown(name)),
    `must not have an agent called ${AGENT_NAMES.join(" or ")}: these are pawl's own`,
  );
