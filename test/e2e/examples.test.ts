/** The examples as their readers run them: `node loop.ts` in a repository, with the real Claude Code on the stand-in. */
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import type { Step } from "../../src/standin/script.ts";
import { byIteration, CLAIM, cliPlace, type CliPlace } from "../support/cli.ts";
import { COMPILED } from "../support/temp.ts";

const EXAMPLES = resolve(import.meta.dirname, "../../examples");
const NODE = resolve(import.meta.dirname, "../../node_modules/.bin/node");
const LIMIT_MS = 150_000;

interface Ended {
  code: number | null;
  output: string;
}

/** `typed`: what a person types once a line with these words has been printed. */
async function runExample(
  name: string,
  {
    place,
    args,
    env = {},
    typed,
  }: { place: CliPlace; args: string[]; env?: Record<string, string>; typed?: [string, string] },
): Promise<Ended> {
  const child = spawn(NODE, [join(EXAMPLES, name), ...args], {
    cwd: place.repository.path,
    env: { ...place.env, NODE_COMPILE_CACHE: COMPILED, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const limit = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
  let output = "";
  let isTyped = false;
  const take = (text: string): void => {
    output += text;
    if (typed === undefined || isTyped || !output.includes(typed[0])) return;
    isTyped = true;
    child.stdin.write(`${typed[1]}\n`);
  };
  child.stdout.setEncoding("utf8").on("data", take);
  child.stderr.setEncoding("utf8").on("data", take);
  const code = await new Promise<number | null>((ended) => child.once("close", ended));
  clearTimeout(limit);
  return { code, output };
}

const write = (text: string): Step => ({
  tools: [{ name: "Bash", input: { command: `printf '${text}' > done.txt`, description: "write" } }],
});
/** By a shell: its own tools insist on reading a file first. */
const writeFile = (path: string, text: string): Step => ({
  tools: [
    {
      name: "Bash",
      input: { command: `cat > ${path} <<'TEXT'\n${text.trimEnd()}\nTEXT`, description: `write ${path}` },
    },
  ],
});
/** What the reader of the example has in the repository. */
function researchFiles(): Record<string, string> {
  const folder = join(EXAMPLES, "cited-research");
  const names = ["citations.mjs", ...readdirSync(join(folder, "corpus")).map((name) => `corpus/${name}`)];
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}
const GOAL = "Make done.txt say yes.";
const CHECK = "done=grep -q yes done.txt";
const BRANCH = "pawl/make-done-txt-say-yes";

describe("examples", () => {
  it("plain-loop: works until the check passes, prints each iteration, and leaves the work on a branch", async () => {
    const script = byIteration({ 1: [{ text: "I look around." }], 2: [write("yes"), { text: CLAIM }] });
    const place = await cliPlace({ script });
    const { code, output } = await runExample("plain-loop/loop.ts", { place, args: [GOAL, CHECK] });
    expect([code, output]).toEqual([0, expect.stringContaining(`verified on ${BRANCH}`)]);
    expect(output).toMatch(/iteration 1: 1 of 1 check is red\n( {2}done: pass\n)+iteration 2: /);
    expect(place.repository.git("show", `${BRANCH}:done.txt`)).toBe("yes");
  });

  it("plain-loop: without a login it says so, and changes nothing", async () => {
    const place = await cliPlace({});
    const { code, output } = await runExample("plain-loop/loop.ts", { place, args: [GOAL, CHECK] });
    expect(code).toBe(1);
    expect(output).toContain("UsageError: Claude Code has no login");
    expect(place.repository.git("for-each-ref", "--format=%(refname)")).toBe("refs/heads/main");
  });

  it("question: errs once, is told why, and prints the answer with the program behind it", async () => {
    const run = (code: string): Step => ({ answer: { do: "run", note: "by a program", language: "python", code } });
    const rule = (n: number, step: Step) => ({ when: { promptIncludes: `Iteration ${n} of` }, steps: [step] });
    const right = "import csv\nprint(sum(int(row['units']) for row in csv.DictReader(open('stock.csv'))))";
    const place = await cliPlace({
      script: { rules: [rule(1, run("print(units)")), rule(2, run(right))], steps: [{ text: "ok" }] },
      env: { PAWL_MODEL: "claude-opus-5-5" },
    });
    const args = ["How many units are there?", join(EXAMPLES, "question/stock.csv"), "42"];
    const { code, output } = await runExample("question/solve.ts", { place, args });
    expect([code, output]).toEqual([0, expect.stringContaining("verified: 42")]);
    expect(output).toContain("NameError: name 'units' is not defined");
    expect(output).toContain("csv.DictReader");
  });

  it("orchestrator: a hint when nothing changes, then another model, and what a person typed, each in the next iteration", async () => {
    const idle: Step[] = [{ text: "I think about it." }];
    const script = byIteration({
      1: idle,
      2: idle,
      3: idle,
      4: [write("yes"), { text: "Written." }],
      5: [{ text: CLAIM }],
    });
    const place = await cliPlace({ script });
    const { code, output } = await runExample("orchestrator/orchestrator.ts", {
      place,
      args: [GOAL, CHECK],
      env: { ORCHESTRATOR_HINT: "[hint: use printf]", ORCHESTRATOR_MODEL: "claude-opus-4-5" },
      typed: ["iteration 3:", "say [word of a person]"],
    });
    expect([code, output]).toEqual([0, expect.stringContaining(`verified on ${BRANCH}`)]);
    const prompts = place.sent();
    const firstWith = (words: string): number | undefined =>
      Number(/Iteration (\d+) (?!.*Iteration \d+ )/s.exec(prompts.find((body) => body.includes(words)) ?? "")?.[1]);
    expect(firstWith("[hint: use printf]")).toBe(3);
    expect(firstWith("[word of a person]")).toBe(5);
    const models = place.standin?.requests
      .filter(({ path }) => path.startsWith("/v1/messages"))
      .map(({ model }) => model);
    expect(models?.[0]).not.toBe("claude-opus-4-5");
    expect(models?.at(-1)).toBe("claude-opus-4-5");
  });

  it("essay-critic: the critic sends the first draft back with reasons, and takes the second", async () => {
    const good = `Cats sleep to be fast for a minute. ${"A cat lies still on the warm sill until the mouse moves. ".repeat(6)}`;
    const bad = `In conclusion, it is important to note that cats sleep. ${"Sleep is a tapestry of rest and meaning for them. ".repeat(7)}`;
    const judged = (score: number, failures: { rule: string; message: string }[]): Step => ({
      tools: [{ name: "StructuredOutput", input: { score, reasons: `worth ${score}`, failures } }],
    });
    const critic = (words: string, step: Step) => ({
      when: { toolsOffered: ["StructuredOutput"], promptIncludes: words },
      steps: [step],
    });
    const writer = (n: number, text: string) => ({
      when: { promptIncludes: `Iteration ${n} ` },
      steps: [writeFile("essay.md", text), { text: CLAIM }],
    });
    const place = await cliPlace({
      script: {
        marker: "Iteration \\d+|## The rubric",
        rules: [
          critic("tapestry", judged(0.3, [{ rule: "gets an example", message: "nothing in it can be seen" }])),
          critic("warm sill", judged(0.85, [])),
          writer(1, bad),
          writer(2, good),
        ],
        steps: [{ text: "ok" }],
      },
    });
    const { code, output } = await runExample("essay-critic/essay.ts", { place, args: [] });
    expect([code, output]).toEqual([0, expect.stringContaining("verified on pawl/write-an-essay")]);
    expect(output).toContain('draft 1, form: fail\n  essay.md must not contain "in conclusion"');
    expect(output).toMatch(/draft 2, form: pass\n(?:.*\n)*draft 2, critic: pass, score 0\.85/);
    const branch = /verified on (\S+):/.exec(output)?.[1] ?? "";
    expect(place.repository.git("show", `${branch}:essay.md`)).toContain("warm sill");
    // What was wrong with the first stands in the writer's next prompt.
    expect(place.sent().some((body) => body.includes("Iteration 2 ") && body.includes("must not contain"))).toBe(true);
  });

  it("cited-research: an invented citation is refused, and so is an invented source", async () => {
    const claim = (text: string, source: string): string => `# The light\n\n- ${text} [${source}]\n`;
    const true1 = claim("Ole Brandt kept the light.", 'keepers.md: "kept the light for thirty-one years"');
    const place = await cliPlace({
      files: researchFiles(),
      script: byIteration({
        1: [
          writeFile("report.md", claim("It burned whale oil.", 'lamp.md: "It burned whale oil until 1889"')),
          { text: CLAIM },
        ],
        2: [
          writeFile("corpus/whales.md", "It burned whale oil until the end.\n"),
          writeFile("report.md", claim("It burned whale oil.", 'whales.md: "It burned whale oil until the end"')),
          { text: CLAIM },
        ],
        3: [
          { tools: [{ name: "Bash", input: { command: "rm corpus/whales.md", description: "rm" } }] },
          writeFile("report.md", true1),
          { text: CLAIM },
        ],
      }),
    });
    const { code, output } = await runExample("cited-research/research.ts", { place, args: [] });
    expect([code, output]).toEqual([0, expect.stringContaining("verified on pawl/")]);
    expect(output).toContain('lamp.md does not say "It burned whale oil until 1889"');
    expect(output).toContain("forbidden-paths: corpus/whales.md was changed");
    for (const passed of ["draft 3, citations: pass", "draft 3, sources: pass"]) expect(output).toContain(passed);
  });
});
