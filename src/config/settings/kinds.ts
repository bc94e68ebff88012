/** The kinds of value a setting can have, and what a setting is. */
import { isAbsolute, normalize } from "node:path";
import { z } from "zod";
import { hookEventSchema } from "../../spec.ts";
import { duration } from "../units.ts";

export const text = z.string("must be text").trim().min(1, "must not be empty");
export const yes = z.union([z.boolean(), z.string()], "must be true or false").transform((given, context) => {
  if (typeof given === "boolean") return given;
  if (/^(1|true|yes|on)$/i.test(given)) return true;
  if (/^(0|false|no|off|)$/i.test(given)) return false;
  context.addIssue({ code: "custom", message: "must be true or false" });
  return z.NEVER;
});

/** A list may also be one text: separated by commas, or by lines where commas mean something. */
export const listOf = <T extends z.ZodType>(item: T, separator: RegExp) =>
  z.preprocess(
    (given) =>
      typeof given === "string"
        ? given
            .split(separator)
            .map((word) => word.trim())
            .filter((word) => word !== "")
        : given,
    z.array(item, "must be a list"),
  );
export const names = listOf(text, /[,\s]+/);
export const lines = listOf(text, /\n/);

/** The agent's word for something, asked for as <promise>…</promise>. */
export const promise = text
  .max(200, "must have at most 200 characters")
  .regex(/^[^<>\n]+$/, "must be one line without < and >")
  .refine((word) => !/\p{Cc}/u.test(word) && /[^\s\p{C}]/u.test(word), "must be a word that can be seen");

export const file = text.max(500, "must be a path").regex(/^[^\n\0]+$/, "must be a path");

/** A path inside the workspace. */
export const insideFile = file.refine(
  (path) =>
    !isAbsolute(path) &&
    !normalize(path)
      .split("/")
      .some((part) => part === ".." || /^\.git$/i.test(part)),
  "must be a file inside the repository",
);

/** A pattern of paths inside the workspace. */
export const glob = text
  .max(500, "must be a pattern of at most 500 characters")
  .refine(
    (pattern) => !pattern.includes("\0") && !pattern.split("/").includes(".."),
    "must stay inside the repository",
  );

export const hook = z.strictObject({
  name: text.optional(),
  on: listOf(hookEventSchema, /[,\s]+/),
  run: text,
  policy: z.enum(["warn", "block", "suspend"], "must be warn, block or suspend").optional(),
  prompt: z.boolean("must be true or false").optional(),
  timeout: duration.optional(),
});

/** Share of a check where verdicts are weighed. */
export const weight = z.number("must be a number above 0").positive("must be a number above 0");

/** A check that is one text. `A=` sets a variable, as in a shell: a name of a check is written in small letters. */
export const checkText = text.refine(
  (given) => !/^(?=.*[a-z])[A-Za-z][\w.-]*=$/.test(given),
  "must have a command behind its name, as in tests=npm test",
);

/** `npm test`, `tests=npm test`, or with everything said. */
export const check = z.union(
  [
    checkText.transform((given) => {
      const named = /^([A-Za-z][\w.-]*)=(?!=)\s*(\S[^]*)$/.exec(given);
      // `A=1 npm test` sets a variable; a name of a check is written in small letters.
      const isName = named !== null && /[a-z]/.test(named[1] ?? "");
      return isName ? { name: named[1], run: named[2] as string } : { run: given };
    }),
    z.strictObject({
      name: text.optional(),
      run: text,
      timeout: duration.optional(),
      required: z.boolean("must be true or false").optional(),
      weight: weight.optional(),
      /** Files it writes reports of tests to, as globs. */
      reports: listOf(insideFile, /[,\s]+/).optional(),
    }),
  ],
  "must be a command, or have `run` and perhaps `name`, `timeout`, `required`, `reports`",
);

export const choice = <const T extends readonly [string, ...string[]]>(words: T) =>
  z.enum(words, `must be one of: ${words.join(", ")}`);

export interface Setting {
  schema: z.ZodType;
  /** Of the flag; none for a switch. */
  argument?: string;
  /** Given several times on the command line. */
  repeated?: true;
  /** What the bare flag means, where its argument may be left out. */
  bare?: string;
  /** The flag, where it is not the setting's own name; null for none. */
  flag?: string | null;
  about: string;
  group: "goal" | "prompt" | "limits" | "agent" | "mix" | "people" | "fence" | "git" | "patience" | "solve";
}

export const of = <S extends Setting>(setting: S): S => setting;
