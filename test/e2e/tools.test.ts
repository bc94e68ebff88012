/** The commands around a run through the built command line: doctor, stand-in, help, diff, restore, worktrees. */
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { COMMANDS } from "../../src/views/cli/table.ts";
import { byIteration, CLAIM, cliPlace } from "../support/cli.ts";
import { tempDir, waitFor } from "../support/temp.ts";
import { bash } from "../support/watch-run.ts";

it("examines what pawl needs, and fails when there is no login", async () => {
  const place = await cliPlace({});
  const without = await place.pawl("doctor");
  expect(without.code).toBe(1);
  expect(without.stdout).toMatch(/^FAIL +login +none found.*\n.*ANTHROPIC_API_KEY/m);
  expect(without.stdout).toMatch(/^ok +fence +bwrap; `pawl doctor --fence` tries to get out of it$/m);
  expect(without.stdout).toMatch(/^ok +code +python 3\.\S+, javascript and typescript \d+\.\S+, (bash|sh)$/m);
  const withKey = await place.start(["doctor", "--json"], { env: { ANTHROPIC_API_KEY: "a-key-for-the-doctor" } }).done;
  expect(withKey.code).toBe(0);
  expect(withKey.stdout).not.toContain("a-key-for-the-doctor");
  const { findings } = JSON.parse(withKey.stdout) as { findings: { name: string; is: string }[] };
  expect(findings.map(({ name }) => name)).toEqual([
    "node",
    "git",
    "claude",
    "login",
    "state",
    "disk",
    "clock",
    "journal",
    "repository",
    "settings",
    "pawl",
    "fence",
    "code",
  ]);
});

it("says before any run why one would be refused here: git's own folder in the middle of the workspace", async () => {
  const { pawl, repository } = await cliPlace({});
  repository.git("init", "-q", `--separate-git-dir=${join(repository.path, ".realgit")}`);
  const { stdout } = await pawl("doctor");
  expect(stdout).toMatch(/^warn +repository +git's own folder lies inside the workspace.*\.realgit\n.*--worktree$/m);
});

it("needs no program but git and a shell: a run without a jq, gh or node to be found, and nothing is installed", async () => {
  const programs = tempDir("programs");
  for (const name of ["git", "sh"]) symlinkSync(join("/usr/bin", name), join(programs, name));
  const place = await cliPlace({
    script: byIteration({
      1: [bash("command -v jq gh node npm > seen.txt; echo almost > made.txt"), { text: CLAIM }],
      2: [bash("echo right > made.txt"), { text: CLAIM }],
    }),
  });
  const check = 'made=read -r word < made.txt && test "$word" = right';
  const { code, stdout } = await place.start(["run", "make it", "--check", check], { env: { PATH: programs } }).done;
  expect([code, stdout]).toEqual([0, "verified pawl/make-it\n"]);
  expect(place.repository.git("show", "pawl/make-it:seen.txt")).toBe("");
  expect(readdirSync(programs)).toEqual(["git", "sh"]);
});

it("opens the fence, tries to get out of it, and says what held", async () => {
  const { pawl, home } = await cliPlace({});
  writeFileSync(join(home, ".netrc"), "canary\n");
  const tried = await pawl("doctor", "--fence");
  expect([tried.code, tried.stdout]).toEqual([
    0,
    expect.stringMatching(/^bwrap: own namespaces[^]*^held: \d+ of \d+ /m),
  ]);
  expect(tried.stdout).not.toContain("BROKEN");
  const { held, probes } = JSON.parse((await pawl("doctor", "--fence", "--json")).stdout) as {
    held: boolean;
    probes: { name: string; agent: string; check: string }[];
  };
  expect(held).toBe(true);
  for (const who of ["agent", "check"] as const)
    expect(probes.filter((one) => one[who] === "held").length).toBeGreaterThanOrEqual(12);
  const other = await pawl("doctor", "--fence", "seatbelt");
  expect([other.code, other.stderr]).toEqual([2, expect.stringContaining("--fence seatbelt does not work here")]);
});

it("serves a scripted model until Ctrl-C, and prints how to use it", async () => {
  const place = await cliPlace({});
  const script = join(place.home, "script.yaml");
  writeFileSync(script, "steps:\n  - text: scripted answer\n");
  const running = place.start(["standin", "--script", script, "--key", "it's secret"]);
  await waitFor(() => running.stderr().includes("Ctrl-C ends it"), { what: "the stand-in" });
  const url = /^export ANTHROPIC_BASE_URL=(\S+)$/m.exec(running.stdout())?.[1] ?? "";
  expect(running.stdout()).toContain(String.raw`export ANTHROPIC_API_KEY='it'\''s secret'`);
  const ask = (key: string): Promise<Response> =>
    fetch(`${url}/v1/messages`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ model: "m", max_tokens: 100, messages: [{ role: "user", content: "hi" }] }),
    });
  expect((await ask("wrong")).status).toBe(401);
  expect(await (await ask("it's secret")).text()).toContain("scripted answer");
  running.child.kill("SIGINT");
  const { code, stderr } = await running.done;
  expect(code).toBe(0);
  expect(stderr).toContain("2 requests answered");
  expect((await place.pawl("standin", "--script", join(place.home, "none.yaml"))).code).toBe(2);
});

it("has examples in the help of every command", async () => {
  const place = await cliPlace({});
  const names = Object.keys(COMMANDS);
  const helps = await Promise.all(names.map(async (name) => ({ name, ...(await place.pawl(name, "--help")) })));
  for (const { name, code, stdout } of helps)
    expect([name, code, stdout]).toEqual([name, 0, expect.stringMatching(/Examples?:/)]);
});

it("diffs, restores and lists what a real run left in pawl's own repository", async () => {
  const write = (content: string): Record<string, unknown> => ({
    tools: [{ name: "Bash", input: { command: `printf ${content} > work.txt` } }],
  });
  const script = byIteration({ 1: [write("wrong"), { text: "done" }], 2: [write("right"), { text: CLAIM }] });
  const place = await cliPlace({ script, files: { "readme.md": "hello\n" } });
  const { code, stdout } = await place.pawl("run", "write it", "--check", "grep -q right work.txt", "--json");
  expect(code).toBe(0);
  const run = (JSON.parse(stdout.split("\n")[0] ?? "") as { run: string }).run;

  const whole = await place.pawl("diff");
  expect(whole.stdout).toContain("+right");
  expect(whole.stderr).toBe("1 file +1 -0\n");
  const second = await place.pawl("diff", run, "-i", "2");
  expect(second.stdout).toMatch(/^-wrong$/m);
  expect((await place.pawl("diff", "--stat", "-i", "1")).stdout).toMatch(/^A +\+1 +-0 +work\.txt\n$/);

  const list = (await place.pawl("restore", "--list")).stdout;
  expect(list).toMatch(/^1 +[0-9a-f]{40} +after iteration 1$/m);
  const file = (): string => readFileSync(join(place.repository.path, "work.txt"), "utf8");
  const restored = await place.pawl("restore", run, "--at", "1");
  expect([restored.code, file()]).toEqual([0, "wrong"]);
  const back = /--at (salvage\/\S+)/.exec(restored.stderr)?.[1] ?? "";
  expect((await place.pawl("restore", run, "--at", back)).code).toBe(0);
  expect(file()).toBe("right");
  expect((await place.pawl("restore", run, "--at", "1", "--branch", "rescued")).code).toBe(0);
  expect(place.repository.git("show", "rescued:work.txt")).toBe("wrong");
  const twice = await place.pawl("restore", run, "--at", "1", "--branch", "rescued");
  expect([twice.code, twice.stderr]).toEqual([2, expect.stringContaining("exists already")]);
});

it("lists and cleans worktrees", async () => {
  const place = await cliPlace({
    script: byIteration({
      1: [{ tools: [{ name: "Bash", input: { command: "printf right > work.txt" } }] }, { text: CLAIM }],
    }),
  });
  expect((await place.pawl("worktrees", "list")).stderr).toBe("no worktrees\n");
  const ran = await place.pawl("run", "write it", "--check", "grep -q right work.txt", "--worktree=side");
  expect(ran.code).toBe(0);
  const [line] = (await place.pawl("worktrees", "list", "--json")).stdout.split("\n");
  const { path } = JSON.parse(line ?? "{}") as { path: string };
  expect(readdirSync(path)).toContain("work.txt");
  expect((await place.pawl("status")).stdout).toContain("ended: verified");
  expect((await place.start(["worktrees", "clean"], { cwd: path }).done).stdout).toBe("removed side\n");
  expect(existsSync(path)).toBe(false);
});
