/** The parts that decide by data alone. */
import { describe, expect, it } from "vitest";
import { UsageError } from "../../errors.ts";
import { answersOf, choicesOf, permissionText } from "./ask-words.ts";
import { wordsOf } from "./command-line.ts";
import { acpOptions } from "./options.ts";
import { outcomeOf, showsOverflow } from "./outcome.ts";
import { ledModels } from "./providers.ts";
import { refusalOf } from "./refusal.ts";

describe("a command line", () => {
  it.each([
    ["gemini --acp", ["gemini", "--acp"]],
    [`  'my agent'  "a \\"b\\" c" d\\ e `, ["my agent", 'a "b" c', "d e"]],
    [`a''b "" 'c"d'`, ["ab", "", 'c"d']],
    ["", []],
  ])("%j has its words", (line, words) => {
    expect(wordsOf(line)).toEqual(words);
  });

  it.each(["'unended", 'a "b', "c\\"])("%j does not end", (line) => {
    expect(() => wordsOf(line)).toThrow(UsageError);
  });
});

describe("options", () => {
  it("make the command: another program, and more arguments at its end", () => {
    const { command } = acpOptions({ name: "acp:gemini --acp", options: { bin: "/opt/g", extra: ["-m", "x y"] } });
    expect(command).toEqual(["/opt/g", "--acp", "-m", "x y"]);
  });

  it.each([
    [{ tools: ["Read"] }, "--tools"],
    [{ plugins: ["p"] }, "--plugin"],
    [{ maxTurns: 0 }, "--agent-max-turns"],
    [{ wild: true }, "wild"],
  ])("%j are refused by name", (options, told) => {
    expect(() => acpOptions({ name: "acp:x", options })).toThrow(told);
  });
});

describe("models that pawl leads to", () => {
  it("are those with an address, and in a closed fence those with a key", () => {
    const names = (environment: Record<string, string>, closed: boolean): string[] =>
      ledModels(environment, { closed }).map(({ protocol }) => protocol);
    expect(names({ ANTHROPIC_API_KEY: "k" }, false)).toEqual([]);
    expect(names({ ANTHROPIC_API_KEY: "k", GEMINI_API_KEY: "" }, true)).toEqual(["anthropic"]);
    expect(names({ OPENAI_BASE_URL: "http://localhost:1" }, false)).toEqual(["openai"]);
  });

  it("get the key where the agent shows the token, and the agent never has it", () => {
    const environment = { ANTHROPIC_API_KEY: "secret", ANTHROPIC_AUTH_TOKEN: "bearer" };
    const [led] = ledModels(environment, { closed: true });
    const token = "t0ken";
    const variables = led?.variables({ url: "http://127.0.0.1:1/t0ken", token });
    expect(Object.values(variables ?? {}).join()).not.toMatch(/secret|bearer/);
    expect(led?.headers({ "x-api-key": token, authorization: `Bearer ${token}`, accept: "*/*" }, token)).toMatchObject({
      "x-api-key": "secret",
      authorization: "Bearer bearer",
      accept: "*/*",
    });
    expect(led?.headers({ "x-api-key": "guess" }, token)).toMatchObject({ "x-api-key": "guess" });
  });
});

describe("a refusal", () => {
  const now = 1_000_000_000_000;
  const of = (status: number, error: object, headers = {}) =>
    refusalOf({ status, headers, body: JSON.stringify({ error }) }, now);

  it("is known by its fields, whoever says it", () => {
    expect(of(429, { type: "rate_limit_error", message: "x" }).kind).toBe("rate");
    expect(of(400, { code: "context_length_exceeded" }).kind).toBe("context");
    expect(of(429, { code: 429, status: "RESOURCE_EXHAUSTED" }).kind).toBe("rate");
    expect(of(400, { message: "rate_limit_error: prompt is too long" }).kind).toBeUndefined();
    expect(refusalOf({ status: 502, headers: {}, body: "<html>" }, now)).toMatchObject({
      kind: undefined,
      status: 502,
    });
  });

  it("says when it ends, in any of the ways there are", () => {
    expect(of(429, {}, { "retry-after": "30" }).resetAt).toBe(now + 30_000);
    expect(of(429, { resets_in_seconds: 5 }).resetAt).toBe(now + 5_000);
    expect(of(429, {}, { "anthropic-ratelimit-unified-reset": String(now / 1000 + 60) }).resetAt).toBe(now + 60_000);
    expect(of(429, {}, { "retry-after": "soon" }).resetAt).toBeUndefined();
  });
});

describe("the end of a turn", () => {
  const limit = { kind: "rate", status: 429, resetAt: 5 } as const;

  it("is what the model said no with, where the agent calls it an end or an error of its own", () => {
    const stopped = { is: "stopped", reason: "end_turn" } as const;
    expect(outcomeOf({ answered: stopped, refusal: limit })).toMatchObject({ is: "limited", resetAt: 5 });
    expect(outcomeOf({ answered: stopped, refusal: undefined })).toEqual({ is: "done" });
    const error = { is: "error", code: -32_603, message: "x", data: undefined } as const;
    expect(outcomeOf({ answered: error, refusal: limit })).toMatchObject({ is: "limited" });
  });

  it("is a full context where the agent compacted it after a refusal of no kind, and was refused again", () => {
    const wrong = { kind: undefined, status: 400, resetAt: undefined } as const;
    const compaction = { sessionUpdate: "tool_call", _meta: { claudeCode: { toolName: "compact" } } };
    expect(showsOverflow(compaction, wrong)).toBe(true);
    expect([showsOverflow(compaction, limit), showsOverflow(compaction, undefined)]).toEqual([false, false]);
    expect(showsOverflow({ ...compaction, _meta: {}, title: "compact" }, wrong)).toBe(false);
    const error = { is: "error", code: -32_603, message: "x", data: undefined } as const;
    expect(outcomeOf({ answered: error, refusal: wrong, overflowed: true })).toMatchObject({ kind: "context" });
    expect(outcomeOf({ answered: error, refusal: wrong })).toMatchObject({ kind: "agent" });
    expect(outcomeOf({ answered: error, refusal: limit, overflowed: true })).toMatchObject({ is: "limited" });
  });

  it.each([
    ["cancelled", { is: "cut" }],
    ["max_turn_requests", { is: "failed", kind: "max-turns" }],
    ["refusal", { is: "failed", kind: "refused" }],
    ["max_tokens", { is: "failed", kind: "agent" }],
    ["", { is: "failed", kind: "agent" }],
  ])("%j is an outcome of its own", (reason, outcome) => {
    expect(outcomeOf({ answered: { is: "stopped", reason }, refusal: undefined })).toMatchObject(outcome);
  });
});

describe("what people read and answer", () => {
  it("is a command on one line, with nothing in it that moves a terminal or hides", () => {
    const tool = { kind: "execute", title: "run", rawInput: { command: "ls\n -l \u001B[2K\u202Eevil" } };
    expect(permissionText(tool)).toBe("execute: ls -l \\u{1b}[2K\\u{202e}evil");
  });

  it("goes into the form's own fields: a choice, several, or other words", () => {
    const choices = choicesOf({
      message: "Colours",
      requestedSchema: {
        properties: {
          one: {
            type: "string",
            oneOf: [
              { const: "r", title: "red" },
              { const: "b", title: "blue" },
            ],
          },
          one_custom: { type: "string" },
          many: { type: "array", items: { enum: ["x", "y"] } },
          free: { type: "string", title: "Why?" },
        },
      },
    });
    expect(choices.map(({ field, options }) => [field, options])).toEqual([
      ["one", ["red", "blue"]],
      ["many", ["x", "y"]],
      ["free", []],
    ]);
    const said = (...words: string[]) => answersOf(choices, (at) => words[at]);
    expect(said("blue", "x, y", "because")).toEqual({ one: "b", many: ["x", "y"], free: "because" });
    expect(said("green")).toEqual({ one_custom: "green" });
  });
});
