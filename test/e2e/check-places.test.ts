/** What a fenced check sees: the judged files under the workspace's own path, and nothing that anyone left for it. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Step } from "../../src/standin/script.ts";
import { byIteration, CLAIM, cliPlace } from "../support/cli.ts";

const LIMIT_MS = 240_000;
const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command } }] });
const FENCED = ["--fence", "bwrap", "--json"];

it("absolute paths in installs and caches mean the judged files", { timeout: LIMIT_MS }, async () => {
  const place = await cliPlace({
    files: {
      ".gitignore": ".venv/\nnode_modules/\ncheat*\n__pycache__/\n",
      "pkg/__init__.py": "try:\n    from .cheat import VALUE\nexcept ImportError:\n    VALUE = 1\n",
      "lib/value.js": "let value = 1;\ntry { value = require('./cheat.js'); } catch {}\nconsole.log(value);\n",
    },
    shellAgent: {
      1: [
        "sed -i 's/VALUE = 1/VALUE = 2/' pkg/__init__.py; sed -i 's/value = 1/value = 2/' lib/value.js;" +
          // Ignored files are not judged: whoever saw them would look at the workspace.
          "echo 'VALUE = 3' > pkg/cheat.py; echo 'module.exports = 3;' > lib/cheat.js",
        CLAIM,
      ],
    },
  });
  const { path } = place.repository;
  execFileSync("python3", ["-m", "venv", "--without-pip", ".venv"], { cwd: path });
  const [site = ""] = readdirSync(join(path, ".venv/lib"));
  writeFileSync(join(path, ".venv/lib", site, "site-packages/editable.pth"), `${path}\n`);
  mkdirSync(join(path, "node_modules/.bin"), { recursive: true });
  symlinkSync(join(path, "lib"), join(path, "node_modules/linked"));
  writeFileSync(join(path, "node_modules/.bin/value"), `#!/bin/sh\nexec node ${path}/lib/value.js\n`, { mode: 0o755 });
  const is2 = (command: string): string => `test "$(cd /tmp && ${command})" = 2`;
  const checks = {
    here: `test "$PWD" = ${path}`,
    editable: is2(`${path}/.venv/bin/python -c "import pkg; print(pkg.VALUE)"`),
    linked: is2(`node ${path}/node_modules/linked/value.js`),
    baked: is2(`${path}/node_modules/.bin/value`),
  };
  const named = Object.entries(checks).flatMap(([name, command]) => ["--check", `${name}=${command}`]);
  const result = await place.pawl("run", "make it 2", ...FENCED, ...named, "--max-iterations", "1");
  const verdicts = result.of("check-end").map(({ check, verdict }) => [check, verdict.is]);
  expect(verdicts, result.stdout).toEqual(Object.keys(checks).map((name) => [name, "pass"]));
  const [first] = result.of("check-end");
  const isolation = first?.verdict.is === "pass" ? first.verdict.evidence.isolation : "";
  expect(isolation).toMatch(/^(overlay|copy) at the workspace's path, bwrap/);
});

it(
  "a check finds a new home and new temporary files, and the agent cannot reach them",
  { timeout: LIMIT_MS },
  async () => {
    // Where it would have to leave something for a check: one of the next folders, one for each.
    const reach =
      'R="$HOME/../../.."; test -d "$R/agents" && echo "the run\'s $((40 + 2))"; for d in check-home check-scratch/{1..9}/{home,tmp}; do mkdir -p "$R/$d"; touch "$R/$d/left"; done';
    const place = await cliPlace({
      script: byIteration({
        1: [bash(`${reach}; echo x > /tmp/left; touch ~/left; echo 1 > made; true`), { text: "Half." }],
        2: [bash(`${reach}; test -e ~/left && test -e /tmp/left && echo 2 > made`), { text: CLAIM }],
      }),
    });
    const fresh =
      "test ! -e ~/left && test ! -e /tmp/left && touch ~/left /tmp/left && mkdir -p ~/.cache/a && chmod 500 ~/.cache/a";
    const checks = ["--check", `one=${fresh}`, "--check", `two=${fresh} && grep -q 2 made`];
    const result = await place.pawl("run", "make 2", ...FENCED, ...checks, "--max-iterations", "2");
    const verdicts = result.of("check-end").map(({ check, verdict }) => `${check} ${verdict.is}`);
    expect(verdicts, result.stdout).toEqual(["one pass", "two fail", "one pass", "two pass"]);
    expect(readFileSync(join(place.repository.path, "made"), "utf8")).toBe("2\n");
    // It looked in the right place.
    expect(place.sent().at(-1)).toContain("the run's 42");
  },
);

it(
  "temporary files are gone with the driver, session files stay for whoever goes on",
  { timeout: LIMIT_MS },
  async () => {
    const place = await cliPlace({
      script: byIteration({
        1: [
          bash("mkdir -p /tmp/deep && echo x > /tmp/deep/file && chmod 500 /tmp/deep && echo 1 > made"),
          { text: "Half." },
        ],
        2: [bash("echo 2 > made"), { text: CLAIM }],
      }),
    });
    const args = [...FENCED, "--check", "made=touch ~/x && grep 2 made", "--max-iterations", "1"];
    const first = await place.pawl("run", "make 2", ...args);
    const run = first.of("run-start")[0]?.spec.run ?? "";
    const [folder, home] = [join(place.state, "runs", run), join(place.state, "runs", run, "agents/main")];
    const isTidy = (): void => {
      expect(existsSync(join(home, "tmp"))).toBe(false);
      expect(existsSync(join(folder, "agent-tmp"))).toBe(false);
      expect(existsSync(join(folder, "check-scratch"))).toBe(false);
      expect(readdirSync(join(home, "claude")).length).toBeGreaterThan(0);
    };
    isTidy();
    // As a killed driver leaves it.
    mkdirSync(join(folder, "check-scratch/7/home"), { recursive: true });
    const again = await place.pawl("resume", "--max-iterations", "2", "--json");
    expect(again.of("run-end").at(-1)?.outcome.is).toBe("verified");
    isTidy();
  },
);
