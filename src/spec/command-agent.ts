/**
 * An agent that is any program, as data: how it is called, how it is told its prompt, and how what it prints is read.
 * The same words stand in `pawl.yaml`, in the presets and, frozen, in a run's specification.
 */
import { z } from "zod";

/** A place inside a line of JSON: `a.b[0].c`; `*` is the first value of an object, `~` the name of its first key. */
const path = z.string("must be a path such as a.b[0].c").min(1, "must not be empty");
const value = z.union([z.string(), z.number(), z.boolean(), z.null()], "must be a text, a number, true, false or null");
/** By path; all must be as given, of a list one. */
const conditions = z.record(z.string(), z.union([value, z.array(value)]), "must have values by path");

/** What went wrong, in pawl's words. */
const kind = z.enum(
  [
    "authentication",
    "billing",
    "rate",
    "usage",
    "overloaded",
    "model",
    "context",
    "invalid",
    "refused",
    "server",
    "connection",
  ],
  "must be one of: authentication, billing, rate, usage, overloaded, model, context, invalid, refused, server, connection",
);

const ruleSchema = z.strictObject({
  /** Which lines are meant; without, all. */
  when: conditions.optional(),
  /** A list in the line: everything below is looked for in each of its elements. */
  each: path.optional(),
  /** Which elements are meant. */
  where: conditions.optional(),
  /** The program's own name of the conversation. */
  session: path.optional(),
  model: path.optional(),
  /** Id of a message of the model that is complete. */
  message: path.optional(),
  text: path.optional(),
  /** The text is a piece: pieces are joined until something else comes. */
  piece: z.boolean().optional(),
  thinking: path.optional(),
  tool: z.strictObject({ id: path, name: path, input: path.optional() }).optional(),
  result: z
    .strictObject({ id: path, output: path.optional(), failed: z.union([path, z.boolean()]).optional() })
    .optional(),
  usage: z
    .strictObject({
      /** What the numbers count: one message (by id), this turn, or the whole conversation so far. */
      of: z.enum(["message", "turn", "session"], "must be message, turn or session"),
      id: path.optional(),
      input: path.optional(),
      output: path.optional(),
      "cache-read": path.optional(),
      "cache-write": path.optional(),
      /** US dollars. */
      cost: path.optional(),
      /** `input` holds what was read from the cache, too. */
      "input-with-cache": z.boolean().optional(),
    })
    .optional(),
  retry: z.strictObject({ attempt: path.optional(), "delay-ms": path.optional(), status: path.optional() }).optional(),
  error: z
    .strictObject({
      /** The program's own word for it; `kinds` says what it means. */
      kind: path.optional(),
      kinds: z.record(z.string(), kind).optional(),
      /** HTTP status. */
      status: path.optional(),
      text: path.optional(),
      /** When a limit ends: seconds or milliseconds since 1970, or a date. */
      reset: path.optional(),
    })
    .optional(),
  /** The agent's last words of the turn. */
  final: path.optional(),
  /** This line is the end of a turn: one without it was cut. */
  ends: z.boolean().optional(),
});
export type OutputRule = z.infer<typeof ruleSchema>;

const outputSchema = z.discriminatedUnion(
  "format",
  [
    z.strictObject({ format: z.literal("text") }),
    z.strictObject({ format: z.literal("jsonl"), rules: z.array(ruleSchema).min(1, "must not be empty") }),
  ],
  "must have `format: text`, or `format: jsonl` and rules",
);

const name = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of a variable");
const word = z.string("must be a word").min(1, "must not be empty");

/** How it reaches its model through pawl, which keeps the key: by two variables that the program reads. */
const gatewaySchema = z.strictObject({
  /** Variable with the address of the model. */
  url: name,
  /** Variable with the key. */
  key: name,
  /** The address where the user names none. */
  upstream: z.url("must be an address such as https://api.example.com/v1"),
  header: z.enum(["authorization", "x-api-key", "x-goog-api-key"]),
  /** Beginnings of paths below the address that lead to the model. */
  requests: z.array(z.string().startsWith("/", "must begin with /")).min(1),
});
export type CommandGateway = z.infer<typeof gatewaySchema>;

const exitMeaning = z.enum([...kind.options, "done", "max-turns", "agent", "cut"]);

/** What an entry of `agents` may say; `command` and `output` it must, or its preset. */
export const commandShape = {
  /** The program and its words. A list among them is a group, left out where one of its {…} has no value. */
  command: z.array(z.union([word, z.array(z.string()).min(1)]), "must be a list of words").min(1, "must not be empty"),
  /** `argument`: {prompt} stands in the command, where every user of the machine can read it. */
  prompt: z.enum(["stdin", "file", "argument"], "must be stdin, file or argument"),
  /** `own`: it reads the instruction files of the repository by itself; otherwise they stand in its first prompt. */
  instructions: z.enum(["prompt", "own"], "must be prompt or own"),
  /** Values of {…} where nobody says otherwise: permissions, effort, model. */
  defaults: z.record(z.string(), z.string()),
  environment: z.record(name, z.string()),
  /** Files written before each turn into {home}, by path below it. */
  files: z.record(z.string().regex(/^(?!\/)(?!.*(^|\/)\.\.(\/|$)).+$/, "must be a path below {home}"), z.string()),
  /** Variables of the user's that it gets as they are. */
  pass: z.array(name),
  /** Variables one of which has to be set for it to be logged in. */
  login: z.array(name),
  gateway: gatewaySchema,
  /** Hosts that it reaches by itself. */
  hosts: z.array(word),
  output: outputSchema,
  /** What exit codes mean, by number; 0 is done and others a failure of the agent unless said. */
  exit: z.record(z.string().regex(/^\d{1,3}$/, "must be exit codes"), exitMeaning),
  interrupt: z.enum(["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"]),
  /** What it is, in a few words. */
  about: z.string().min(1),
  /** Command that installs it. */
  install: z.string().min(1),
} as const;

export const commandEntrySchema = z.strictObject({
  command: commandShape.command,
  prompt: commandShape.prompt.default("stdin"),
  instructions: commandShape.instructions.default("prompt"),
  defaults: commandShape.defaults.default({}),
  environment: commandShape.environment.default({}),
  files: commandShape.files.default({}),
  pass: commandShape.pass.default([]),
  login: commandShape.login.default([]),
  gateway: commandShape.gateway.optional(),
  hosts: commandShape.hosts.default([]),
  output: commandShape.output,
  exit: commandShape.exit.default({}),
  interrupt: commandShape.interrupt.default("SIGTERM"),
  about: commandShape.about.optional(),
  install: commandShape.install.optional(),
});
export type CommandEntry = z.infer<typeof commandEntrySchema>;
/** As it is written: what is left out has its default. */
export type CommandGiven = z.input<typeof commandEntrySchema>;
