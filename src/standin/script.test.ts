import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { UsageError } from "../errors.ts";
import type { Tally } from "./choose.ts";
import { choose } from "./choose.ts";
import { messagesProtocol } from "./messages.ts";
import type { StandinRequest } from "./request.ts";
import { conversationOf, isSideRequest, stepsSince, unseenOf } from "./request.ts";
import type { Script } from "./script.ts";
import { loadScript, stepsInside } from "./script.ts";

type Message = { role: string; content: unknown };
const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
const said = (text: string): Message => ({ role: "assistant", content: text });
const called = (id: string): Message => ({
  role: "assistant",
  content: [{ type: "tool_use", id, name: "Bash", input: {} }],
});
const result = (id: string, content = "fine"): Message => ({
  role: "user",
  content: [{ type: "tool_result", tool_use_id: id, content }],
});
const TOOLS = [{ name: "Bash" }, { name: "Write" }];

function request(messages: Message[], extra: Record<string, unknown> = {}): StandinRequest {
  return messagesProtocol.parse({ model: "claude-opus-5-5", messages, tools: TOOLS, ...extra }).request;
}

async function answer(script: Script, messages: Message[], tally: Tally = new Map()): Promise<unknown> {
  const { step } = await choose(script, request(messages), tally);
  return step.status ?? step.tools?.[0]?.name ?? step.text;
}

const bash = { tools: [{ name: "Bash" }] };

describe("the step of a request", () => {
  const script: Script = { steps: [bash, { text: "two" }] };

  it("is counted from the last prompt, so a conversation of several prompts starts over at each", async () => {
    expect(await answer(script, [user("go")])).toBe("Bash");
    const first = [user("go"), called("1"), result("1")];
    expect(await answer(script, first)).toBe("two");
    expect(await answer(script, [...first, said("two"), user("again")])).toBe("Bash");
  });

  it("is not disturbed by reminders, system messages and fillers that agent programs add", async () => {
    const resumed = [
      user("go"),
      { role: "system", content: "# Environment" },
      called("1"),
      result("1"),
      { role: "system", content: "The user sent a new message while you were working: hurry" },
      said("No response requested."),
      user("<system-reminder>be good</system-reminder>"),
      user("Continue from where you left off."),
    ];
    expect(await answer(script, resumed)).toBe("two");
  });

  it("goes on after a crash when a marker names the iteration", async () => {
    const steps: Script = { marker: "Iteration \\d+", steps: [bash, { text: "two" }] };
    const crashed = [
      user("Iteration 1: go"),
      called("1"),
      result("1"),
      said("No response requested."),
      user("Iteration 1: go on"),
    ];
    expect(await answer(steps, crashed)).toBe("two");
    expect(stepsSince(request(crashed), "Iteration 1")).toBe(1);
    expect(await answer(steps, [...crashed, said("two"), user("Iteration 2: next")])).toBe("Bash");
    const early = [
      user("Iteration 1: go\nThen comes Iteration 2"),
      called("1"),
      result("1"),
      said("two"),
      user("Iteration 2: go"),
    ];
    expect(await answer(steps, early)).toBe("Bash");
  });

  it("is asked again when the result of its tool was lost or only a part of it was kept", async () => {
    const lost = [
      user("go"),
      called("1"),
      result("1", "[Tool call interrupted: the session ended]"),
      said("No response requested."),
    ];
    expect(await answer({ ...script, marker: "go" }, [...lost, user("go")])).toBe("Bash");
    const part: Script = { marker: "go", steps: [{ text: "I write", ...bash }, { text: "two" }] };
    expect(await answer(part, [user("go"), said("I write"), user("go")])).toBe("Bash");
  });

  it("is ok when the script has ended, or the last one again when that repeats", async () => {
    const over = [user("go"), called("1"), result("1"), said("two"), said("three")];
    expect(await answer(script, over)).toBe("ok");
    expect(await answer({ steps: [bash, { text: "for ever", repeat: true }] }, over)).toBe("for ever");
  });

  it("comes from the first rule that holds", async () => {
    const rules: Script = {
      rules: [
        { when: { toolsOffered: [] }, steps: [{ text: "bare" }] },
        { when: { model: "another" }, steps: [{ text: "another's" }] },
        { when: { promptIncludes: "red", toolsOffered: ["Fly"] }, steps: [{ text: "flying" }] },
        { when: { promptIncludes: "red", toolsOffered: ["Write"] }, steps: [{ text: "red" }] },
        { when: { lastUserIncludes: "sirens" }, steps: [{ text: "heard", repeat: true }] },
        { when: { firstUserIncludes: "begin", model: "claude-opus-5-5" }, steps: [{ text: "first" }] },
      ],
      steps: [{ text: "otherwise" }],
    };
    expect(await answer(rules, [user("paint it red")])).toBe("red");
    expect(await answer(rules, [user("paint"), called("1"), result("1", "sirens outside")])).toBe("heard");
    expect(await answer(rules, [user("begin"), said("yes"), user("paint")])).toBe("first");
    expect(await answer(rules, [user("paint")])).toBe("otherwise");
  });

  it("can be a fault for some requests, which takes no number, in each conversation for itself", async () => {
    const tally: Tally = new Map();
    const script: Script = { steps: [{ status: 529, times: 2 }, bash, { status: 429, times: 1 }, { text: "two" }] };
    const first = [user("go")];
    expect(await answer(script, first, tally)).toBe(529);
    expect(await answer(script, first, tally)).toBe(529);
    expect(await answer(script, [user("another"), said("yes"), user("go")], tally)).toBe(529);
    expect(await answer(script, first, tally)).toBe("Bash");
    const second = [user("go"), called("1"), result("1")];
    expect(await answer(script, second, tally)).toBe(429);
    expect(await answer(script, second, tally)).toBe("two");
  });

  it("can be a function, which is told how often it was asked for the same step", async () => {
    const tally: Tally = new Map();
    const script: Script = (asked, step, attempt) =>
      attempt === 0 ? { status: 500 } : { text: `${asked.model} ${step}` };
    expect(await answer(script, [user("go")], tally)).toBe(500);
    expect(await answer(script, [user("go")], tally)).toBe("claude-opus-5-5 0");
    expect(await answer(script, [user("go"), said("a")], tally)).toBe(500);
  });

  it("can stand in the prompt: as JSON, with escaped quotes, or in base64", async () => {
    const json = '[{"text":"inside"}]';
    const forms = [json, json.replaceAll('"', '\\"'), Buffer.from(json).toString("base64")];
    for (const form of forms) expect(await answer(script, [user(`do <<SCRIPT ${form} SCRIPT>> now`)])).toBe("inside");
    expect(() => stepsInside("<<SCRIPT [{]] SCRIPT>>")).toThrow(/neither JSON nor base64/);
    expect(() => stepsInside('<<SCRIPT [{"txt":1}] SCRIPT>>')).toThrow(/txt/);
    expect(stepsInside("nothing here")).toBeUndefined();
  });
});

describe("a request", () => {
  it("is a side request when it has no tools and wants a title, a summary or one token", () => {
    const bare = { tools: [] };
    expect(isSideRequest(request([user("Hi")], { ...bare, max_tokens: 1 }))).toBe(true);
    expect(isSideRequest(request([user("Please write a 5-10 word title for this")], bare))).toBe(true);
    expect(
      isSideRequest(request([user("x")], { ...bare, system: "You are a title generator. You output ONLY a title." })),
    ).toBe(true);
    const summary = "You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary.";
    expect(isSideRequest(request([user(summary)], bare))).toBe(true);
    expect(isSideRequest(request([user("judge this")], bare))).toBe(false);
    expect(isSideRequest(request([user("Generate a title")], { max_tokens: 1 }))).toBe(false);
  });

  it("belongs to the same conversation as long as that grows", () => {
    const first = request([user("go")]);
    expect(conversationOf(request([user("go"), said("a"), user("b")]))).toBe(conversationOf(first));
    expect(conversationOf(request([user("other")]))).not.toBe(conversationOf(first));
    expect(conversationOf(request([user("go")], { metadata: { user_id: "s" } }))).not.toBe(conversationOf(first));
  });

  it("shows what the model has not seen yet, also what the agent program puts in as system message", () => {
    const unseen = unseenOf(
      request([user("go"), called("1"), result("1", "out"), { role: "system", content: "hurry" }]),
    );
    expect(unseen).toEqual({ texts: ["hurry"], toolResults: ["out"] });
  });
});

describe("a script file", () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "pawl-script-"));
  });
  afterEach(() => rmSync(dir, { recursive: true }));
  const load = (text: string) => {
    const path = join(dir, "script.yaml");
    writeFileSync(path, text);
    return loadScript(path);
  };

  it("is read as YAML or JSON", () => {
    expect(load("steps:\n  - text: hi\n")).toEqual({ steps: [{ text: "hi" }] });
    expect(load('{"rules":[{"when":{"model":"m"},"steps":[{"hang":true}]}]}').rules).toHaveLength(1);
  });

  it.each([
    ["an unknown key", "steps:\n  - text: hi\n  - txt: ho\n", /script\.yaml:3: steps\.1: .*txt/],
    ["a wrong type", "steps:\n  - text: hi\n    delayMs: soon\n", /script\.yaml:3: steps\.0\.delayMs/],
    ["broken YAML", "steps: [\n  - a: b: c\n", /script\.yaml:\d+/],
    ["nothing", "", /needs `steps` or `rules`/],
    ["a bad marker", "marker: '('\nsteps: []\n", /script\.yaml:1: marker: not a regular expression/],
    [
      "an endless fault in the middle",
      "steps:\n  - status: 529\n  - text: hi\n",
      /script\.yaml:2: steps\.0: .*never ends/,
    ],
    ["times on an answer", "steps:\n  - text: hi\n    times: 2\n", /times is for faults/],
    ["repeat in the middle", "steps:\n  - text: hi\n    repeat: true\n  - text: ho\n", /repeat is for the last step/],
  ])("with %s is refused with file, line and reason", (_, text, message) => {
    expect(() => load(text)).toThrow(UsageError);
    expect(() => load(text)).toThrow(message);
  });

  it("that is not there is a usage error", () => {
    expect(() => loadScript(join(dir, "none.yaml"))).toThrow(/cannot read the script/);
  });
});
