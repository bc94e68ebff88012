/** Where the tests of the agent's contract take place: folders of their own, and sessions that several of them share. */
import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, onTestFailed, onTestFinished } from "vitest";
import type { Agent, AgentSession, OpenRequest } from "../../src/ports.ts";
import { plainAgent } from "../support/spec.ts";
import { tempDir } from "../support/temp.ts";
import { LIMITS } from "./agent-play.ts";
import type { AgentWorld, Behaviour } from "./agent-play.ts";

export const RUN_TAG = "PAWL_RUN";

export type Asking = Partial<OpenRequest["agent"]["ask"]>;

export interface Place {
  agent: Agent;
  prompt(behaviour: Behaviour): string;
  environment: Record<string, string>;
  /** Of the agent, as in a spec. */
  options?: OpenRequest["agent"]["options"];
  models: { first: string; second: string };
  /** The tests share this folder, and with it a program that takes long to start, where they do not end it. */
  root?: string;
  /** By which that program's processes are known. */
  run?: string;
  /** Ends what holds it beside the tests' sessions. */
  release?(): Promise<void>;
}

export interface OpenWorld extends AgentWorld {
  session: AgentSession;
  asked: OpenRequest;
}

export interface Worlds {
  /** For one test. `alone`: also where the others share a folder. */
  world(ask?: Asking, how?: { alone?: boolean }): AgentWorld;
  /** One session for all tests that leave it fit for another turn: a start of the program takes longer than their turns. */
  shared(ask?: Asking): Promise<OpenWorld>;
  /** The shared session for a test that ends all that it is on; nobody else is on that any more. */
  last(): Promise<OpenWorld>;
}

export function worlds(place: () => Place): Worlds {
  const sharing = new Map<string, OpenWorld>();
  const drop = async (key: string): Promise<void> => {
    const known = sharing.get(key);
    sharing.delete(key);
    await known?.session.close();
  };
  afterAll(async () => void (await Promise.all([...sharing.keys()].map(drop))));

  function world(ask: Asking = {}, { alone = false } = {}): AgentWorld {
    const { agent, prompt, environment, models, options = {}, ...others } = place();
    const isOwn = alone || others.root === undefined;
    const root = isOwn ? tempDir("agent") : (others.root ?? "");
    const workspace = join(root, "workspace");
    mkdirSync(workspace, { recursive: true });
    const run = (isOwn ? undefined : others.run) ?? `contract-${randomUUID()}`;
    const open: AgentWorld["open"] = async (session = { ref: randomUUID(), mode: "new" }) => {
      const asked: OpenRequest = {
        run,
        lane: "main",
        workspace,
        home: join(root, "home"),
        session,
        agent: { ...plainAgent, name: agent.name, ...LIMITS, options, ask: { ...plainAgent.ask, ...ask } },
        model: models.first,
        instructions: "",
        environment: { ...environment, [RUN_TAG]: run },
      };
      return { session: await agent.open(asked), asked };
    };
    return { agent, prompt, workspace, run, open };
  }

  async function shared(ask: Asking = {}): Promise<OpenWorld> {
    const key = JSON.stringify(ask);
    let known = sharing.get(key);
    if (known === undefined) {
      const fresh = world(ask);
      known = { ...fresh, ...(await fresh.open()) };
      sharing.set(key, known);
    }
    // Whatever it was left in, the next test is not to fail for it.
    onTestFailed(() => drop(key));
    return known;
  }

  return {
    world(ask, how) {
      const fresh = world(ask, how);
      return {
        ...fresh,
        async open(session) {
          const opened = await fresh.open(session);
          onTestFinished(() => opened.session.close());
          return opened;
        },
      };
    },
    shared,
    async last() {
      const kept = await shared();
      const others = [...sharing].filter(([, other]) => other !== kept);
      await Promise.all(others.map(([key]) => drop(key)));
      await place().release?.();
      return kept;
    },
  };
}
