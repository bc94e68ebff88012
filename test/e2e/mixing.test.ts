/** Several agents in one run of the real Claude Code: two models of it are two agents, each with its own limit. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "vitest";
import { scripted } from "../../src/agents/scripted.ts";
import type { Billing } from "../../src/standin/billing.ts";
import type { StandinRequest } from "../../src/standin/request.ts";
import { promptOf } from "../../src/standin/request.ts";
import type { Step } from "../../src/standin/script.ts";
import { run } from "../../src/views/library/run.ts";
import { CLAIM, cliPlace, GATE, type CliPlace, type CliResult } from "../support/cli.ts";
import { exec } from "../support/codex.ts";
import { liveRun } from "../support/live-run.ts";

const OPUS = "claude-opus-5-5";
const SONNET = "claude-sonnet-5";
/** As some providers name theirs. */
const HOUSE = "house/model-v1:0";
/** More than a busy machine takes to hand the iteration over. */
const RESET_S = 10;
const UNTIL_RESET_S = RESET_S + 1;
const USED_UP: Step = { status: 429, usageLimitText: "You've hit your limit", resetInS: RESET_S };
const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command } }] });
const iterationOf = (request: StandinRequest): number =>
  Number(/(?:Iteration|Review of iteration) (\d+)/.exec(promptOf(request))?.[1]);
const isReview = (request: StandinRequest): boolean => promptOf(request).includes("Review of iteration");

interface Spent {
  agent: string;
  model: string | null;
  turns: number;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  usd: number;
}
const status = async (place: CliPlace): Promise<{ agents: Spent[]; benched: object[]; spent: Spent }> =>
  JSON.parse((await place.pawl("status", "--json")).stdout) as { agents: Spent[]; benched: object[]; spent: Spent };
const seats = (result: CliResult): (string | undefined)[] => result.of("turn-start").map(({ seat }) => seat);

/** What the stand-in billed, by model. */
const billed = ({ standin }: CliPlace, model: string): number[] =>
  sumOf((standin?.requests ?? []).filter((request) => request.model === model && request.toolsOffered > 0));
const sumOf = (asked: readonly { billing: Billing }[]): number[] => {
  const sum = (of: (billing: Billing) => number): number =>
    asked.reduce((total, { billing }) => total + of(billing), 0);
  return [
    sum(({ inputTokens }) => inputTokens),
    sum(({ outputTokens }) => outputTokens),
    sum(({ cacheReadTokens }) => cacheReadTokens),
    sum(({ cacheWrite5mTokens, cacheWrite1hTokens }) => cacheWrite5mTokens + cacheWrite1hTokens),
  ];
};
const counted = (spent: Spent | undefined): (number | undefined)[] => [
  spent?.inputTokens,
  spent?.outputTokens,
  spent?.cacheReadTokens,
  spent?.cacheWriteTokens,
];

/** Both write a line and a note in each iteration; the first is out of its limit in the second one. */
function twoPrograms(): (request: StandinRequest, step: number) => Step {
  let isOut = false;
  return (request, step) => {
    if (request.tools.size === 0) return { text: "ok" };
    // A prompt that was not answered stands before the next one in the same message.
    const n = Number([...promptOf(request).matchAll(/^Iteration (\d+) /gm)].at(-1)?.[1]);
    const { protocol } = request;
    if (n === 2 && protocol === "messages" && !isOut) {
      isOut = true;
      return USED_UP;
    }
    if (step > 0) return { text: n === 3 ? CLAIM : `Not yet, says ${protocol}.` };
    const write = `echo ${n} ${protocol} >> made.txt; echo note of ${n} ${protocol} >> notes.md`;
    // The second one works until the first is well again.
    return protocol === "responses" ? exec(`sleep ${UNTIL_RESET_S}; ${write}`) : bash(write);
  };
}

describe.concurrent("several agents", () => {
  it("--fallback: the usage limit of the first hands its iteration to the next, from the same tree; after the reset the first is back", async ({
    expect,
  }) => {
    let isOut = false;
    const place = await cliPlace({
      login: "subscription",
      script: (request, step) => {
        if (request.tools.size === 0) return { text: "ok" };
        const n = iterationOf(request);
        if (n === 2 && request.model === OPUS && !isOut) {
          isOut = true;
          return USED_UP;
        }
        // The second one works until the first is well again.
        const wait = n === 2 ? `sleep ${UNTIL_RESET_S}; ` : "";
        return step === 0
          ? bash(`${wait}echo ${n} ${request.model} >> made.txt`)
          : { text: n === 3 ? CLAIM : "Not yet." };
      },
    });
    const line = ["run", "make made.txt", "--agent", `claude:${OPUS}`, "--fallback", `claude:${SONNET}`];
    const result = await place.pawl(...line, "--check", "test $(wc -l < made.txt) = 3", "--json");
    expect(result.of("run-end").map(({ outcome }) => outcome.is)).toEqual(["verified"]);
    expect(place.repository.git("show", "HEAD:made.txt")).toBe(`1 ${OPUS}\n2 ${SONNET}\n3 ${OPUS}`);
    expect(seats(result)).toEqual([OPUS, OPUS, SONNET, OPUS].map((model) => `claude:${model}`));
    expect(result.of("agent-benched")).toMatchObject([{ seat: `claude:${OPUS}`, until: expect.any(Number) }]);
    expect(result.of("wait-start")).toEqual([]);
    // Both are one program: the conversation goes on under another model.
    expect(result.of("turn-start").map(({ session }) => session.mode)).toEqual([
      "new",
      "continue",
      "continue",
      "continue",
    ]);
    const { agents, benched, spent } = await status(place);
    for (const model of [OPUS, SONNET])
      expect(counted(agents.find((one) => one.model === model))).toEqual(billed(place, model));
    expect(agents.reduce((sum, { usd }) => sum + usd, 0)).toBeCloseTo(spent.usd, 9);
    expect(benched).toMatchObject([{ seat: `claude:${OPUS}`, times: 1, leftMs: null }]);
    expect(result.stderr).toMatch(new RegExp(`^ +agents +claude:${OPUS}: .*, 3 turns, `, "m"));
    expect(result.stderr).toMatch(/^ +claude:claude-opus-5-5: was on the bench: usage limit: /m);
  });

  it("one run of two programs: Claude Code hits its usage limit, Codex goes on from its tree and notes, Claude Code returns; each is charged to the token", async ({
    expect,
  }) => {
    const place = await cliPlace({ login: "subscription", script: twoPrograms() });
    const env = {
      OPENAI_API_KEY: place.env["CLAUDE_CODE_OAUTH_TOKEN"] ?? "",
      OPENAI_BASE_URL: `${place.standin?.url}/v1`,
    };
    const line = ["run", "make made.txt", "--model", OPUS, "--fallback", "codex:gpt-5.5", "--notes", "notes.md"];
    const check = ["--check", "test $(wc -l < made.txt) = 3", "--fence", "bwrap", "--json"];
    const result = await place.start([...line, ...check], { env }).done;
    expect([result.of("run-end").map(({ outcome }) => outcome.is), result.stderr]).toEqual([
      ["verified"],
      expect.anything(),
    ]);
    expect(place.repository.git("show", "HEAD:made.txt")).toBe("1 messages\n2 responses\n3 messages");
    expect(result.of("turn-start").map(({ seat, session }) => `${seat} ${session.mode}`)).toEqual([
      `claude:${OPUS} new`,
      `claude:${OPUS} continue`,
      "codex:gpt-5.5 new",
      `claude:${OPUS} continue`,
    ]);
    expect(result.of("turn-end").map(({ outcome }) => outcome.is)).toEqual(["done", "limited", "done", "done"]);
    expect(result.of("wait-start")).toEqual([]);
    // Each is told what the other left: why it came, the notes, what the other one said.
    const requests = place.standin?.requests ?? [];
    const told = (protocol: string, iteration: number): string =>
      place.sent()[
        requests.findLastIndex((one) => one.protocol === protocol && one.prompt.includes(`Iteration ${iteration} `))
      ] ?? "";
    for (const words of ["note of 1 messages", "Not yet, says messages.", "It cannot go on now (usage limit: "])
      expect(told("responses", 2)).toContain(words);
    for (const words of [
      "note of 2 responses",
      "Not yet, says responses.",
      "Since your last turn, in iteration 2, others",
    ])
      expect(told("messages", 3)).toContain(words);

    const { agents, spent } = await status(place);
    expect(agents.map(({ agent, model, turns }) => `${agent} ${model} ${turns}`)).toEqual([
      "claude claude-opus-5-5 3",
      "codex gpt-5.5 1",
    ]);
    for (const [at, protocol] of (["messages", "responses"] as const).entries()) {
      const asked = requests.filter((one) => one.protocol === protocol);
      const bill = asked.reduce((sum, { billing }) => sum + (billing.usd ?? Number.NaN), 0);
      expect(counted(agents[at])).toEqual(sumOf(asked));
      expect(agents[at]?.usd).toBeCloseTo(bill, 9);
    }
    expect(counted(spent)).toEqual(sumOf(requests));
    const shown = await place.pawl("status");
    expect(shown.stdout).toMatch(/claude:claude-opus-5-5: .*, 3 turns, /);
  });

  it("--rotate takes turns; --review looks at every change and is driven again after kill -9 without being bought twice", async ({
    expect,
  }) => {
    const place = await cliPlace({
      script: (request, step) => {
        if (request.tools.size === 0) return { text: "ok" };
        const n = iterationOf(request);
        if (isReview(request))
          return step === 0
            ? bash(
                `sed -i 's/wrong/right/' made.txt; (echo $HOME; ls -d $(cat ${GATE}work)) > ${GATE}review 2>&1; sleep ${n === 1 ? 2 : 0}`,
              )
            : { text: "I mended a word." };
        return step === 0
          ? bash(`echo ${n} wrong >> made.txt; echo $HOME > ${GATE}work`)
          : { text: n === 2 ? CLAIM : "Not yet." };
      },
    });
    const line = ["run", "make made.txt", "--rotate", `claude:${OPUS},claude:${SONNET}`, "--review"];
    const more = ["--review-agent", `claude:${SONNET}`, "--check", "grep -q '^2 right' made.txt"];
    const running = place.start([...line, ...more]);
    const live = await liveRun({ state: place.state, env: place.env });
    const review = await live.nth("turn-start", 2);
    expect(review).toMatchObject({ role: "review", seat: `claude:${SONNET}`, session: { mode: "new" } });
    await live.nth("session-opened", 2);
    running.child.kill("SIGKILL");
    expect((await running.done).signal).toBe("SIGKILL");
    const again = await place.pawl("resume", "--json");
    expect(again.code).toBe(0);
    expect(place.repository.git("show", "HEAD:made.txt")).toBe("1 right\n2 right");
    const turns = await live.of("turn-start");
    expect(turns.map(({ seat, role }) => `${seat}${role === undefined ? "" : " reviews"}`)).toEqual([
      `claude:${OPUS}`,
      `claude:${SONNET} reviews`,
      ...(turns.length === 5 ? [`claude:${SONNET} reviews`] : []),
      `claude:${SONNET}`,
      `claude:${SONNET} reviews`,
    ]);
    const asked = (place.standin?.requests ?? []).filter(({ toolsOffered }) => toolsOffered > 0);
    // Two for each of four turns; what was cut is asked again at most.
    expect(asked.length).toBeLessThanOrEqual(9);
    const prompt = asked.find(({ prompt: text }) => text.includes("Iteration 2 "))?.prompt ?? "";
    expect(prompt).toContain("What the review of your change said");
    expect(prompt).toContain("I mended a word.");
    // Both are Claude Code; the reviewer has a home of its own and does not see the other's.
    const [work = "", home = ""] = ["work", "review"].map((who) =>
      readFileSync(join(place.repository.path, `${GATE}${who}`), "utf8").trim(),
    );
    expect(home).toMatch(/^\S+\/review-home\/home\n.*No such file or directory$/);
    expect(home.split("\n")[0]).not.toBe(work);
  });

  it("an agent without a model that exists is benched, and its prices can be told; what is wrong is refused before anything is spent", async ({
    expect,
  }) => {
    const place = await cliPlace({
      script: { models: [SONNET, HOUSE], steps: [bash("echo x > made.txt"), { text: CLAIM }] },
    });
    const wrong: [string[], RegExp][] = [
      [["--fallback", "clod:x"], /--fallback names an agent that there is not: "clod:x"/],
      [["--rotate", "claude:a,:b"], /--rotate \(1\) must be AGENT or AGENT:MODEL, not "claude:a,:b"/],
      [["--review-agent", "claude:"], /--review-agent must be AGENT or AGENT:MODEL/],
      [["--rotate", "claude:a", "--model", "b"], /--rotate contradicts --model/],
      [["--escalate", "a", "--fallback-model", "b"], /--escalate contradicts --fallback-model/],
      [["--agent", "claude:a", "--model", "b"], /--agent claude:a contradicts --model b/],
      [["--native-goal"], /--native-goal: after each answer Claude Code.s goal loop asks a judge/],
    ];
    for (const [flags, says] of wrong) {
      const refused = await place.pawl("run", "make made.txt", ...flags);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(says)]);
    }
    expect(place.standin?.requests).toEqual([]);
    writeFileSync(
      join(place.repository.path, "pawl.yaml"),
      `prices:\n  "${HOUSE}": { input: 1000, output: 2000 }\nfallback: ["claude:${HOUSE}"]\n`,
    );
    const line = ["run", "make made.txt", "--allow-dirty", "--model", "no-such-model", "--check", "test -f made.txt"];
    const result = await place.pawl(...line, "--json");
    expect(result.of("run-end").map(({ outcome }) => outcome.is)).toEqual(["verified"]);
    expect(seats(result)).toEqual(["claude:no-such-model", `claude:${HOUSE}`]);
    expect(result.of("agent-benched")).toMatchObject([
      { seat: "claude:no-such-model", reason: expect.stringMatching(/^model: /) },
    ]);
    const { agents } = await status(place);
    const house = agents.find(({ model }) => model === HOUSE);
    const [input = 0, output = 0, read = 0, write = 0] = billed(place, HOUSE);
    expect(house?.usd).toBeCloseTo((1000 * (input + read + write) + 2000 * output) / 1e6, 6);
  });
});

describe("a program", () => {
  it("has its own agent stand in for Claude Code while that is out of its limit", async ({ expect }) => {
    const place = await cliPlace({ login: "subscription", script: { steps: [{ ...USED_UP, resetInS: 3_600 }] } });
    const own = scripted(
      ({ workspace, prompt }) => {
        expect(prompt).toContain("another agent, claude; now it is yours. It cannot go on now (usage limit: ");
        writeFileSync(join(workspace, "made.txt"), "x");
        return { text: CLAIM, usage: { requests: 1 } };
      },
      { name: "own" },
    );
    const handle = await run({
      goal: "make made.txt",
      cwd: place.repository.path,
      environment: place.env,
      agent: "claude",
      agents: [own],
      fallback: ["own"],
      checks: ["test -f made.txt"],
      passes: 1,
    });
    const { outcome, state } = await handle.outcome;
    expect(outcome.is).toBe("verified");
    expect([...state.spentBy.values()].map(({ agent, turns }) => `${agent} ${turns}`)).toEqual(["claude 1", "own 1"]);
  });
});

describe("pawl fork", () => {
  it("makes a new run from a snapshot, in the conversation as it was then; the old one is untouched", async ({
    expect,
  }) => {
    const place = await cliPlace({
      script: (request, step) => {
        if (request.tools.size === 0) return { text: "ok" };
        const isForked = promptOf(request).includes("go left");
        const n = isForked ? 9 : iterationOf(request);
        return step === 0 ? bash(`echo ${n} >> made.txt`) : { text: n === 1 ? "Not yet: mind the gap." : CLAIM };
      },
    });
    const first = await place.pawl("run", "make made.txt", "--check", "test $(wc -l < made.txt) = 2", "--json");
    const old = first.facts()[0]?.run ?? "";
    expect(first.of("run-end").map(({ outcome }) => outcome.is)).toEqual(["verified"]);
    const before = await place.pawl("logs", old, "--facts", "--json");
    const tip = place.repository.git("rev-parse", "pawl/make-made-txt");

    const wrong: [string[], RegExp][] = [
      [["fork", old], /from where\? --at is missing/],
      [["fork", old, "--at", "77"], new RegExp(`run ${old} has no snapshot 77\n.*it has 0 to 2`)],
      [["fork", old, "--at", "x"], /--at is the number of a snapshot, not "x"/],
      [["fork", "r-nope", "--at", "1"], /r-nope/],
    ];
    for (const [args, says] of wrong) {
      const refused = await place.pawl(...args);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(says)]);
    }
    const forked = await place.pawl("fork", old, "--at", "1", "--model", SONNET, "--say", "go left", "--json");
    expect(forked.of("run-end").map(({ outcome }) => outcome.is)).toEqual(["verified"]);
    const [start] = forked.of("run-start");
    expect(start?.spec.fork).toMatchObject({ run: old, snapshot: 1, iteration: 1, mark: { agent: "claude" } });
    const branch = start?.spec.workspace.branch ?? "";
    expect(place.repository.git("show", `${branch}:made.txt`)).toBe("1\n9");
    expect(forked.of("turn-start").map(({ session, model }) => [session.mode, model])).toEqual([["rewind", SONNET]]);
    // The conversation up to that point, and nothing after it.
    const asked = place.sent().filter((body) => body.includes("go left"))[0] ?? "";
    expect(asked).toContain("mind the gap");
    expect(asked).not.toContain("Iteration 2 ");
    expect(place.repository.git("rev-parse", "pawl/make-made-txt")).toBe(tip);
    expect((await place.pawl("logs", old, "--facts", "--json")).stdout).toBe(before.stdout);
  });
});
