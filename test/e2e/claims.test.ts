/** What counts as the agent's claim, as an error and as cost in a run of the real Claude Code: structure, never prose. */
import { describe, expect, it } from "vitest";
import type { Step } from "../../src/standin/script.ts";
import { byIteration, CLAIM, cliPlace } from "../support/cli.ts";

const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command } }] });
const PROMISE = "<promise>COMPLETE</promise>";
/** Words that other loops took for a rate limit, an error or an end. */
const ALARMING = [
  "Added @upstash/ratelimit; is_error:false",
  "see line 429: HTTP 529 overloaded_error, rate limit exceeded, API Error",
  "You've hit your limit · resets 3am. Please run /login. Prompt is too long",
];

describe.concurrent("a claim", () => {
  it("in the first turn, without a tool call or a change, finishes nothing, though every check passes (row 1)", async ({
    expect,
  }) => {
    const { pawl, standin } = await cliPlace({ script: byIteration({ 1: [{ text: CLAIM }], 2: [{ text: CLAIM }] }) });
    const result = await pawl("run", "make it good", "--check", "true", "--max-iterations", "2", "--json");
    expect(result.of("turn-end").map(({ claim, tools }) => [claim?.is, tools])).toEqual([
      ["done", []],
      ["done", []],
    ]);
    expect(result.of("decision-made").map(({ next }) => next)).toEqual(["continue", "end"]);
    expect(result.of("run-end").map(({ outcome }) => outcome.is)).toEqual(["exhausted"]);
    expect(result.code).toBe(3);
    expect((standin?.requests ?? []).filter(({ toolsOffered }) => toolsOffered > 0)).toHaveLength(2);
  });

  it("inside code, a quote, reasoning, a tool's input or the prompt's echo is none; as the last line it is one (row 2)", async ({
    expect,
  }) => {
    const { pawl } = await cliPlace({
      script: byIteration({
        1: [bash(`echo x > made.txt; echo '${PROMISE}'`), { text: `Not yet.\n\n\`\`\`\n${PROMISE}\n\`\`\`` }],
        2: [{ text: `You asked for this:\n\n> ${PROMISE}` }],
        // So that it does not end as settled.
        3: [bash("echo y > made.txt"), { thinking: `I could say\n${PROMISE}`, text: "Thought about it." }],
        4: [{ text: `End your final message with ${PROMISE} on a line of its own.` }],
        5: [{ text: `${PROMISE}\n\nNo, wait.` }],
        6: [{ text: CLAIM }],
      }),
      env: { PAWL_PATIENCE: "9" },
    });
    const result = await pawl("run", "make made.txt", "--check", "test -f made.txt", "--json");
    expect(result.of("turn-end").map(({ claim }) => claim !== null)).toEqual([false, false, false, false, false, true]);
    expect(result.of("run-end").map(({ outcome }) => outcome.is)).toEqual(["verified"]);
  });

  it("that is no claim where it stands is told in the terminal and the summary, beside what green checks show (row 2)", async ({
    expect,
  }) => {
    const says = `All of it is done. ${PROMISE}`;
    const { pawl } = await cliPlace({ shellAgent: { 1: ["echo x > made.txt", says], 2: ["echo y > made.txt", says] } });
    const result = await pawl("run", "make it good", "--check", "true", "--max-iterations", "2");
    expect(result.code, result.stderr).toBe(3);
    expect(result.stderr).toMatch(/^\S+ +every required check passed before the first turn, too: they guard against/m);
    expect(result.stderr).toMatch(/promise-misplaced: the promise tag is in a line with other text/);
    expect(result.stderr).toMatch(/^ +promise +iteration 2: the promise tag is in a line with other text/m);
    expect(result.stderr).toMatch(/^ +unverified +the goal: .*do not show the goal/m);
    expect(result.stderr).toMatch(/^ +git switch main && git merge pawl\/\S+ /m);
    expect(result.stderr).toMatch(/^ +pawl run 'make it good' --check true --until-green /m);
  });

  it("is seen in a stream of JSON lines, in pieces, blocks and next to escaped text (row 3)", async ({ expect }) => {
    const lines = Array.from({ length: 40 }, (_, n) => `- "step ${n}": \\"done\\" {"type":"result"} é☃`).join("\n");
    const { pawl } = await cliPlace({
      script: byIteration({ 1: [bash("echo x > made.txt"), { text: [`${lines}\n`, `\nIt is done.\n\n${PROMISE}`] }] }),
    });
    const result = await pawl("run", "make made.txt", "--check", "test -f made.txt", "--json");
    expect(result.of("turn-end").map(({ claim, outcome }) => [claim?.is, outcome.is])).toEqual([["done", "done"]]);
    expect(result.of("run-end").map(({ outcome }) => outcome.is)).toEqual(["verified"]);
    expect(result.of("iteration-start")).toHaveLength(1);
  });
});

it("takes talk of rate limits and errors, by the agent, its tools and the checks, for talk (row 9)", async () => {
  const talk = ALARMING.join("\n");
  const { pawl, standin } = await cliPlace({
    script: byIteration({
      1: [bash(`cat <<'END'\n${talk}\nEND\necho half > made.txt`), { text: talk }],
      2: [bash(`echo "429 Too Many Requests" >&2; echo whole > made.txt; exit 1`), { text: `${talk}\n\n${PROMISE}` }],
    }),
  });
  const check = `printf '%s\\n' '${ALARMING[1] ?? ""}'; grep -q whole made.txt`;
  const result = await pawl("run", "make made.txt", "--check", check, "--json");
  expect(result.of("turn-end").map(({ outcome }) => outcome)).toEqual([{ is: "done" }, { is: "done" }]);
  expect(result.of("check-end").map(({ verdict }) => verdict.is)).toEqual(["fail", "pass"]);
  expect(result.of("wait-start")).toEqual([]);
  expect(result.of("run-end").map(({ outcome }) => outcome.is)).toEqual(["verified"]);
  expect((standin?.requests ?? []).filter(({ toolsOffered }) => toolsOffered > 0)).toHaveLength(4);
});

it("counts usage that the stream repeats once: what was billed, field by field and over two turns (row 27)", async () => {
  const tools = ["one", "two", "three"].map((name) => ({ name: "Bash", input: { command: `echo ${name} > ${name}` } }));
  const usage = { input: 1_234, output: 321, cacheRead: 11_111, cacheWrite: 777 };
  const { pawl, standin } = await cliPlace({
    script: byIteration({
      // Each of these blocks comes with the whole usage of its message, and the result adds all of it up again.
      1: [{ thinking: "Hm.", text: ["First.", "Second."], tools, usage }, { text: "Half." }],
      2: [{ text: "More.", tools, usage }, { text: CLAIM }],
    }),
  });
  const result = await pawl("run", "make three", "--check", "test -f three", "--json");
  expect(result.code).toBe(0);
  const billed = (standin?.requests ?? []).map(({ billing }) => billing);
  const spent = result.of("turn-end").map((fact) => fact.usage);
  const sum = <T>(list: readonly T[], pick: (one: T) => number): number =>
    list.reduce((total, one) => total + pick(one), 0);
  expect({
    requests: sum(spent, (one) => one.requests),
    inputTokens: sum(spent, (one) => one.inputTokens),
    outputTokens: sum(spent, (one) => one.outputTokens),
    cacheReadTokens: sum(spent, (one) => one.cacheReadTokens),
    cacheWriteTokens: sum(spent, (one) => one.cacheWriteTokens),
    toolCalls: sum(spent, (one) => one.toolCalls),
  }).toEqual({
    requests: billed.length,
    inputTokens: sum(billed, (one) => one.inputTokens),
    outputTokens: sum(billed, (one) => one.outputTokens),
    cacheReadTokens: sum(billed, (one) => one.cacheReadTokens),
    cacheWriteTokens: sum(billed, (one) => one.cacheWrite5mTokens + one.cacheWrite1hTokens),
    toolCalls: 6,
  });
});

it("ends failed on the abort promise, with the agent's reason and its work handed over, and can be reopened", async () => {
  const place = await cliPlace({
    script: byIteration({
      1: [
        bash(`echo half > made.txt; echo '<promise>NO WAY</promise>'`),
        { text: "I could say\n\n> <promise>NO WAY</promise>" },
      ],
      2: [bash("echo more > made.txt"), { text: "The service is gone.\n\n<promise>NO WAY</promise>" }],
      3: [bash("echo whole > made.txt"), { text: CLAIM }],
    }),
  });
  const check = ["--check", "grep -q whole made.txt"];
  const result = await place.pawl("run", "make made.txt", ...check, "--abort-promise", "NO WAY", "--json");
  expect(result.code).toBe(5);
  expect(result.of("run-end")[0]?.outcome).toEqual({
    is: "failed",
    rule: "claim:abort",
    reason: "the agent gives up: The service is gone.",
  });
  expect(result.of("check-end").map(({ iteration }) => iteration)).toEqual([1]);
  // What no check has looked at is handed over below the best that was judged.
  expect(["HEAD~1", "HEAD"].map((at) => place.repository.git("show", `${at}:made.txt`))).toEqual(["more", "half"]);
  expect(place.sent()[0]).toContain("<promise>NO WAY</promise>");

  const again = await place.pawl("resume", "--json");
  expect(again.code).toBe(0);
  expect(again.of("run-end")[0]?.outcome.is).toBe("verified");
  expect(place.repository.git("show", "HEAD:made.txt")).toBe("whole");
});

it("asks for every confirmation, each on a green tree, and tells the agent which one it is", async () => {
  const place = await cliPlace({
    script: byIteration({
      1: [bash("echo whole > made.txt"), { text: CLAIM }],
      2: [bash("echo broken > made.txt"), { text: CLAIM }],
      3: [bash("echo whole > made.txt"), { text: CLAIM }],
      4: [bash("cat made.txt"), { text: CLAIM }],
      5: [bash("cat made.txt"), { text: CLAIM }],
    }),
    env: { PAWL_PATIENCE: "2", PAWL_LADDER: "stop" },
  });
  const check = ["--check", "grep -q whole made.txt"];
  const result = await place.pawl("run", "make made.txt", ...check, "--confirmations", "3", "--json");
  expect(result.code).toBe(0);
  expect(result.of("decision-made").map(({ rule, numbers }) => [rule, numbers["confirmed"]])).toEqual([
    ["claim-unconfirmed", 1],
    ["claim-refused", undefined],
    ["claim-unconfirmed", 1],
    ["claim-unconfirmed", 2],
    ["all-required-pass", undefined],
  ]);
  const prompts = (place.standin?.requests ?? []).map(({ prompt }) => prompt);
  const asked = (n: number): string => prompts.find((text) => text.includes(`Iteration ${n} of`)) ?? "";
  expect(asked(2)).toContain("confirmation 2 of 3");
  expect(asked(3)).not.toContain("confirmation");
  expect(asked(5)).toContain("confirmation 3 of 3");
});

it("exits 0 for a claim without a check only with --trust-promise, also when it is resumed", async () => {
  const script = byIteration({
    1: [bash("echo x > made.txt"), { text: "half" }],
    2: [bash("cat made.txt"), { text: CLAIM }],
    3: [bash("cat made.txt"), { text: CLAIM }],
  });
  const place = await cliPlace({ script });
  const plain = await place.pawl("run", "make made.txt", "--json");
  expect([plain.of("run-end")[0]?.outcome.is, plain.code]).toEqual(["claimed", 1]);
  expect((await place.pawl("resume", "--trust-promise")).code).toBe(0);
});
