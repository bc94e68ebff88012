/** A newer pawl: no run asks for one or becomes one; the doctor tells a person about it, who decides. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { byIteration, CLAIM, CLI, cliPlace, NODE } from "../support/cli.ts";
import { bash } from "../support/watch-run.ts";

const NEWER = "99.0.0";
/** The doctor waits for npm a few seconds, which takes longer to start on a busy machine. */
const TRIES = 10;
const PROGRAM_FOLDER = dirname(dirname(dirname(CLI)));

/** A registry that has a newer one, and counts who asks. */
async function registry() {
  const asked: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    asked.push(url);
    const versions = { [NEWER]: { name: "pawl", version: NEWER, dist: { tarball: "http://127.0.0.1:9/none.tgz" } } };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ name: "pawl", "dist-tags": { latest: NEWER }, versions }));
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return { asked, setting: `registry=http://127.0.0.1:${(server.address() as AddressInfo).port}/\n` };
}

function hashOfProgram(): string {
  const files = readdirSync(PROGRAM_FOLDER, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".js"),
  );
  const hash = createHash("sha256");
  for (const name of files.toSorted()) hash.update(name).update(readFileSync(join(PROGRAM_FOLDER, name)));
  return hash.digest("hex");
}

it("a newer pawl changes no run and no program: the doctor names it to a person, with the command, asking whom that person trusts", async () => {
  const [users, projects] = [await registry(), await registry()];
  const place = await cliPlace({
    files: { "readme.md": "hello\n", ".npmrc": projects.setting },
    script: byIteration({
      1: [bash("echo almost > made.txt"), { text: CLAIM }],
      2: [bash("echo right > made.txt"), { text: CLAIM }],
    }),
  });
  writeFileSync(join(place.home, ".npmrc"), users.setting);
  const before = hashOfProgram();

  const run = await place.pawl("run", "make it", "--check", "made=grep -q right made.txt", "--json");
  expect([run.code, run.of("run-end").map(({ outcome }) => outcome.is)]).toEqual([0, ["verified"]]);
  expect((await place.pawl("doctor")).stdout).toMatch(/^ok +pawl +\d+\.\d+\.\d+$/m);
  expect([users.asked, projects.asked]).toEqual([[], []]);

  const doctor = ["-qec", `'${NODE}' '${CLI}' doctor`, "/dev/null"];
  let said = "";
  for (let tries = 0; tries < TRIES && !said.includes(NEWER); tries += 1) {
    said = (await promisify(execFile)("script", doctor, { cwd: place.repository.path, env: place.env })).stdout;
  }
  expect(said.replaceAll("\r", "")).toMatch(
    /^warn +pawl +\d+\.\d+\.\d+; 99\.0\.0 is there\n +→ npm install -g pawl@latest$/m,
  );
  expect(new Set(users.asked)).toEqual(new Set(["/pawl"]));
  expect(projects.asked).toEqual([]);
  expect(hashOfProgram()).toBe(before);
});
