/** Where the dependencies of a judged tree come from, with real installers and without a network. */
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { isPipMissing, makeVenv, PYTHON_FILES } from "../../test/fixtures/python-project.ts";
import { judgedPlace, type JudgedPlace } from "../../test/support/judged-place.ts";
import { shownOf, taggedProcesses } from "../../test/support/processes.ts";
import { waitFor } from "../../test/support/temp.ts";
import type { Check } from "../ports.ts";
import { SETUP_KEYS } from "../verdict-defaults.ts";

const LIMIT_MS = 240_000;
const setup = (command: string, keys: readonly string[] = SETUP_KEYS) => ({
  command,
  keys: [...keys],
  timeoutMs: LIMIT_MS,
});

const open: JudgedPlace[] = [];
async function place(wanted: Parameters<typeof judgedPlace>[0]): Promise<JudgedPlace> {
  const made = await judgedPlace(wanted);
  open.push(made);
  return made;
}
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

/** Counts how often it ran, outside any tree; a folder that only exists where it ran. */
const COUNTING = "mkdir -p node_modules/dep && cp lock.txt node_modules/dep/version && echo installed";
const keyed = (command = COUNTING) => setup(command, ["lock.txt"]);
const files = { ".gitignore": "node_modules/\n", "lock.txt": "1\n", "a.txt": "one\n" };
const setupsOf = ({ layout }: JudgedPlace): string[] => (existsSync(layout.setups) ? readdirSync(layout.setups) : []);

describe.each(["bwrap", "none"] as const)("a setup command, fence %s", (fence) => {
  it("makes dependencies once for each state of the files it goes by", { timeout: LIMIT_MS }, async () => {
    const at = await place({ files, setup: keyed(), fence });
    const seen = async (tree?: string) =>
      (await at.judge("cat node_modules/dep/version a.txt; rm -r node_modules", tree === undefined ? {} : { tree }))
        .output;
    expect(await seen()).toBe("1\none\n");
    at.write({ "a.txt": "two\n" });
    const second = await at.snapshot();
    expect(await seen(second)).toBe("1\ntwo\n");
    expect(setupsOf(at)).toHaveLength(1);
    at.write({ "lock.txt": "2\n" });
    const third = await at.snapshot();
    expect(await seen(third)).toBe("2\ntwo\n");
    const isolation = async (tree: string): Promise<unknown> => (await at.judge("true", { tree })).verdict;
    expect(await isolation(third)).toMatchObject({ evidence: { isolation: expect.stringContaining('"lock.txt"') } });
    expect(await isolation(second)).not.toMatchObject({ evidence: { isolation: expect.stringContaining("lock.txt") } });
    expect(setupsOf(at)).toHaveLength(2);
    expect(await seen(second)).toBe("1\ntwo\n");
    expect(await seen()).toBe("1\none\n");
    expect(setupsOf(at)).toHaveLength(2);
  });

  it("that fails judges nothing, unless it is for the change", { timeout: LIMIT_MS }, async () => {
    const works = keyed("grep -q 1 lock.txt || { echo no such version; exit 3; }");
    const at = await place({ files, setup: works, fence });
    at.write({ "lock.txt": "wrong\n" });
    const touched = await at.judge("true", { tree: await at.snapshot() });
    expect(touched.verdict).toMatchObject({
      is: "fail",
      failures: [{ message: expect.stringContaining('with the change of "lock.txt"') }],
      excerpt: expect.stringContaining("no such version"),
    });
    expect((await at.judge("true")).verdict.is).toBe("pass");
    const never = await place({ files, setup: keyed("echo no network; exit 3"), fence });
    never.write({ "lock.txt": "2\n" });
    for (const tree of [never.base, await never.snapshot()]) {
      const { verdict } = await never.judge("true", { tree });
      expect(verdict).toMatchObject({ is: "unverifiable", reason: expect.stringContaining("exit 3: no network") });
    }
    expect(setupsOf(never)).toEqual([]);
  });
});

it("a setup runs the base's files, with only those of the change that it goes by", { timeout: LIMIT_MS }, async () => {
  const at = await place({
    files: { ...files, "install.sh": "mkdir -p node_modules && echo honest > node_modules/tool" },
    setup: keyed("sh install.sh; cat lock.txt >> node_modules/tool"),
  });
  at.write({
    "install.sh": "mkdir -p node_modules && echo evil > node_modules/tool; touch conftest.py",
    "lock.txt": "2\n",
  });
  const { output } = await at.judge("cat node_modules/tool; ls", { tree: await at.snapshot() });
  expect(output).toBe("honest\n2\na.txt\ninstall.sh\nlock.txt\nnode_modules\n");
});

it("a setup that is stopped judges nothing and leaves nothing", { timeout: LIMIT_MS }, async () => {
  const mark = randomUUID();
  const tagged = (): number[] =>
    taggedProcesses("SETUP_MARK", mark).filter((pid) => shownOf(pid).startsWith("sleep\0"));
  const at = await place({ files, setup: keyed("sleep 60; true"), environment: { SETUP_MARK: mark } });
  const stop = new AbortController();
  const going = at.judge("true", { signal: stop.signal });
  await waitFor(() => tagged().length > 0, { what: "the setup's command" });
  stop.abort();
  const { verdict } = await going;
  expect(tagged()).toEqual([]);
  expect(verdict).toMatchObject({ is: "unverifiable", reason: expect.stringContaining("aborted") });
  expect(setupsOf(at)).toEqual([]);
});

it("install scripts run inside the fence only: none reaches the host (A18)", { timeout: LIMIT_MS }, async () => {
  const outside = join(tmpdir(), `pawl-a18-${process.pid}`);
  mkdirSync(outside);
  try {
    const at = await place({
      files: {
        ".gitignore": "node_modules/\n",
        "package.json": JSON.stringify({ name: "p", version: "1.0.0", scripts: { postinstall: "node evil.js" } }),
        "package-lock.json": JSON.stringify({
          name: "p",
          version: "1.0.0",
          lockfileVersion: 3,
          packages: { "": { name: "p", version: "1.0.0" } },
        }),
        "evil.js": `
          const fs = require("node:fs"), os = require("node:os"), path = require("node:path");
          const tried = [${JSON.stringify(outside)}, os.homedir(), path.join(os.homedir(), "../.."), "/tmp", "/var/tmp", "/etc", "/usr/local/bin", process.env.CANARY_HOME];
          for (const folder of tried) try { fs.writeFileSync(path.join(folder, "canary"), "hit"); } catch {}
          fs.mkdirSync("node_modules", { recursive: true });
          fs.writeFileSync("node_modules/ran", "");`,
      },
      setup: setup("npm ci --offline"),
      environment: { CANARY_HOME: process.env["HOME"] ?? "/root" },
    });
    const { verdict, output } = await at.judge("test -e node_modules/ran && ls /tmp ~");
    expect(verdict.is, JSON.stringify(verdict)).toBe("pass");
    expect(output).not.toContain("canary");
    const places = [outside, process.env["HOME"] ?? "/root", "/tmp", "/var/tmp", "/etc", "/usr/local/bin", at.root];
    const hits = places.filter((folder) => existsSync(join(folder, "canary")));
    expect(hits).toEqual([]);
    expect(
      execFileSync("find", [join(at.root, "state"), "-name", "canary", "-not", "-path", "*/check-scratch/*"], {
        encoding: "utf8",
      }),
    ).toBe("");
  } finally {
    rmSync(outside, { recursive: true, force: true });
  }
});

const WORKSPACES = {
  ".gitignore": "node_modules/\n",
  "package.json": JSON.stringify({ name: "root", version: "1.0.0", workspaces: ["packages/*"] }),
  "packages/lib/package.json": JSON.stringify({ name: "@x/lib", version: "1.0.0", main: "index.js" }),
  "packages/lib/index.js": "module.exports = 1;\n",
  "packages/app/package.json": JSON.stringify({ name: "app", version: "1.0.0", dependencies: { "@x/lib": "1.0.0" } }),
  "packages/app/run.js": 'console.log(require("@x/lib") + require("nested"));\n',
};
const npm = (repo: string, ...args: string[]): void =>
  void execFileSync("npm", [...args, "--offline", "--no-audit", "--no-fund"], { cwd: repo, stdio: "pipe" });
function nest(repo: string): void {
  mkdirSync(join(repo, "packages/app/node_modules/nested"), { recursive: true });
  writeFileSync(join(repo, "packages/app/node_modules/nested/index.js"), "module.exports = 10;\n");
}

describe("npm workspaces", () => {
  it("mean the judged packages, with what is installed inside them", { timeout: LIMIT_MS }, async () => {
    const at = await place({
      files: WORKSPACES,
      install: (repo) => (npm(repo, "install", "--no-package-lock"), nest(repo)),
    });
    expect((await at.judge("node packages/app/run.js")).output).toBe("11\n");
    at.write({ "packages/lib/index.js": "module.exports = 2;\n" });
    const tree = await at.snapshot();
    at.write({
      "packages/lib/index.js": "module.exports = 3;\n",
      "packages/app/node_modules/nested/index.js": "module.exports = 50;\n",
    });
    expect((await at.judge("node packages/app/run.js", { tree })).output).toBe("12\n");
    expect((await at.judge("node packages/app/run.js")).output).toBe("11\n");
  });

  it("are set up again when a package is added, whose files are then there", { timeout: LIMIT_MS }, async () => {
    const at = await place({
      files: WORKSPACES,
      setup: setup("npm install --offline --no-package-lock --no-audit --no-fund"),
    });
    const link = "node -p 'require(\"@x/lib\")'";
    expect((await at.judge(link)).output).toBe("1\n");
    at.write({
      "packages/more/package.json": JSON.stringify({ name: "@x/more", version: "1.0.0" }),
      "packages/more/index.js": "module.exports = 'more';\n",
    });
    const tree = await at.snapshot();
    expect((await at.judge("node -p 'require(\"@x/more\")'", { tree })).output).toBe("more\n");
    expect(setupsOf(at)).toHaveLength(2);
  });
});

const VALUE = '.venv/bin/python -c "import thing; print(thing.VALUE, thing.__file__)"';

describe("a Python project with an editable install", () => {
  it("means the judged files", { timeout: LIMIT_MS }, async () => {
    const at = await place({
      files: PYTHON_FILES,
      install(repo) {
        execFileSync("python3", ["-m", "venv", "--without-pip", ".venv"], { cwd: repo });
        const [version = ""] = readdirSync(join(repo, ".venv/lib"));
        writeFileSync(
          join(repo, ".venv/lib", version, "site-packages/__editable__.thing.pth"),
          `${join(repo, "src")}\n`,
        );
      },
    });
    at.write({ "src/thing/__init__.py": "VALUE = 2\n" });
    const tree = await at.snapshot();
    at.write({ "src/thing/__init__.py": "VALUE = 3\n" });
    expect((await at.judge(`cd /tmp && ${at.repo}/${VALUE}`, { tree })).output).toBe(
      `2 ${at.repo}/src/thing/__init__.py\n`,
    );
    expect((await at.judge(VALUE)).output).toBe(`1 ${at.repo}/src/thing/__init__.py\n`);
  });

  const missing = isPipMissing();
  it.skipIf(missing)("is set up inside the fence, without a network", { timeout: LIMIT_MS }, async () => {
    const at = await place({ files: PYTHON_FILES, setup: setup(makeVenv("--no-deps -e .")) });
    at.write({ "src/thing/__init__.py": "VALUE = 2\n" });
    const { output, verdict } = await at.judge(VALUE, { tree: await at.snapshot() });
    expect(output, JSON.stringify(verdict)).toBe(`2 ${at.repo}/src/thing/__init__.py\n`);
  });
});

const INSTALLED = {
  files: { ".gitignore": "node_modules/\n", "package-lock.json": "{}\n", "a.txt": "one\n" },
  install(repo: string): void {
    mkdirSync(join(repo, "node_modules/dep"), { recursive: true });
    writeFileSync(join(repo, "node_modules/dep/index.js"), "module.exports = 'honest';\n");
  },
};

it(
  "a changed lockfile without a setup is said, and named as the likely reason of a failure",
  { timeout: LIMIT_MS },
  async () => {
    const at = await place(INSTALLED);
    expect((await at.judge("true")).verdict).toMatchObject({
      evidence: { isolation: expect.not.stringContaining("though") },
    });
    at.write({ "package-lock.json": '{ "new": 1 }\n' });
    const tree = await at.snapshot();
    const said = {
      evidence: { isolation: expect.stringContaining('though "package-lock.json" changed'), suspicions: [] },
    };
    expect((await at.judge("true", { tree })).verdict).toMatchObject({ is: "pass", ...said });
    const { verdict } = await at.judge("false", { tree });
    expect(verdict).toMatchObject({ is: "fail", ...said, excerpt: expect.stringContaining('--setup "npm ci"') });
  },
);

describe("an agent that brings dependencies of its own", () => {
  const DEP = "node -p 'require(\"dep\")'; ls node_modules";
  it(
    "after changes that touch none, and once it has taken them back, is judged alike",
    { timeout: LIMIT_MS },
    async () => {
      const at = await place(INSTALLED);
      const said = async () => {
        const { output, verdict } = await at.judge(DEP, { tree: await at.snapshot() });
        const isolation = "evidence" in verdict ? verdict.evidence.isolation : verdict.is;
        return [output, isolation.includes('without its own ".venv"'), isolation.includes("changed")];
      };
      const plainly = ["honest\ndep\n", false, false];
      at.write({ "a.txt": "one\n" });
      expect(await said()).toEqual(plainly);
      at.write({ "b.txt": "two\n" });
      expect(await said()).toEqual(plainly);
      at.write({ ".venv/bin/python": "" });
      expect(await said()).toEqual(["honest\ndep\n", true, false]);
      at.write({ "b.txt": "three\n" });
      expect(await said()).toEqual(["honest\ndep\n", true, false]);
      rmSync(join(at.repo, ".venv"), { recursive: true });
      expect(await said()).toEqual(plainly);
      at.write({ "package-lock.json": '{ "new": 1 }\n' });
      expect(await said()).toEqual(["honest\ndep\n", false, true]);
      at.write({ "b.txt": "four\n" });
      expect(await said()).toEqual(["honest\ndep\n", false, true]);
    },
  );

  it("by not ignoring them any more is judged with the installed ones", { timeout: LIMIT_MS }, async () => {
    const at = await place(INSTALLED);
    at.write({
      ".gitignore": "",
      "node_modules/dep/index.js": "module.exports = 'evil';\n",
      "node_modules/evil/index.js": "",
      ".venv/bin/python": "",
    });
    const { output, verdict } = await at.judge(`${DEP}; ls -a`, { tree: await at.snapshot() });
    expect(output).toBe("honest\ndep\n.\n..\n.gitignore\na.txt\nnode_modules\npackage-lock.json\n");
    expect(verdict).toMatchObject({
      evidence: { isolation: expect.stringMatching(/without its own "\.venv", "node_modules"/) },
    });
  });

  it("by a link in their place, too", { timeout: LIMIT_MS }, async () => {
    const at = await place(INSTALLED);
    rmSync(join(at.repo, "node_modules"), { recursive: true });
    at.write({ "mine/dep/index.js": "module.exports = 'evil';\n" });
    symlinkSync("mine", join(at.repo, "node_modules"));
    expect((await at.judge(DEP, { tree: await at.snapshot() })).output).toBe("honest\ndep\n");
  });
});

it("what a check leaves in any cache or home is not there for the next", { timeout: LIMIT_MS }, async () => {
  const at = await place(INSTALLED);
  const poisoned = `for d in ~ /tmp ~/.cache ~/.npm ~/.config ~/.cargo ~/go "\${XDG_CACHE_HOME:-$HOME/.cache}" node_modules/.cache; do mkdir -p "$d" && echo x > "$d/poison"; done`;
  expect((await at.judge(poisoned)).verdict.is).toBe("pass");
  const found =
    "find ~ /tmp /var/tmp . -name poison 2>/dev/null; env | grep -E 'CACHE|CARGO_HOME|GOPATH|npm_config' || true";
  expect((await at.judge(found)).output).toBe("");
});

it(
  "a check that needs git finds one commit of the judged tree, and can do what it likes to it",
  { timeout: LIMIT_MS },
  async () => {
    const at = await place({ ...INSTALLED, checkGit: true });
    at.write({ "a.txt": "two\n" });
    const tree = await at.snapshot();
    const look = "git status --porcelain && git log --format=%T && git ls-files && git remote";
    const expected = `${tree}\n.gitignore\na.txt\npackage-lock.json\n`;
    expect((await at.judge(look, { tree })).output).toBe(expected);
    const ruin = "git commit -q --allow-empty -m x && rm -rf .git/objects && echo ref: refs/heads/x > .git/HEAD";
    const { verdict, output } = await at.judge(ruin, { tree });
    expect([verdict.is, output]).toEqual(["pass", ""]);
    expect((await at.judge(look, { tree })).output).toBe(expected);
    expect((await at.judge("git log --format=%s")).output).toBe("the tree that is judged\n");
    expect(readFileSync(join(at.repo, ".git/HEAD"), "utf8")).toBe("ref: refs/heads/pawl/judged\n");
  },
);

it("a check of the program's own gets a folder with everything in it", { timeout: LIMIT_MS }, async () => {
  const seen: string[] = [];
  const custom: Check = {
    name: "own",
    required: true,
    cost: "slow",
    judge: async (tree) => {
      seen.push(readdirSync(tree.path).toSorted().join(" "));
      writeFileSync(join(tree.path, "left"), "");
      return { is: "unverifiable", reason: "only looked" };
    },
  };
  const at = await place({ ...INSTALLED, custom });
  await at.judgeOwn();
  await at.judgeOwn();
  expect(seen).toEqual([
    ".gitignore a.txt node_modules package-lock.json",
    ".gitignore a.txt node_modules package-lock.json",
  ]);
  expect((await at.judge("ls -A")).output).toBe(".gitignore\na.txt\nnode_modules\npackage-lock.json\n");
});
