/** What a run says where product code speaks for its checks behind a chain of commands, and where nothing could be tried. */
import { expect, it } from "vitest";
import { CLAIM, cliPlace } from "../support/cli.ts";

const LIMIT_MS = 240_000;
const FILES = {
  "package.json": '{"scripts":{"test":"cd test && node ok.js && node add.js"}}',
  "src/add.js": "exports.add = (a, b) => a - b;\n",
  "test/ok.js": 'require("node:assert").ok(true);\n',
  "test/add.js": [
    'const assert = require("node:assert");',
    'const { add } = require("../src/add.js");',
    "async function main() {",
    "  assert.equal((await add(2, 3)).toString(), (5).toString());",
    "}",
    "main();",
    "",
  ].join("\n"),
};
const FIX = "echo 'exports.add = async (a, b) => a + b;' > src/add.js";
/** Node ends well when nothing is left to wait for. */
const HANGS = "echo 'exports.add = () => new Promise(() => {});' > src/add.js";

it(
  "a script behind a chain that waits for ever is no verified end, and one that ends is",
  { timeout: LIMIT_MS },
  async () => {
    const said = await Promise.all(
      [HANGS, FIX].map(async (does) => {
        const place = await cliPlace({ files: FILES, shellAgent: { 1: [does, CLAIM] } });
        const options = ["--fence", "none", "--json", "--max-iterations", "1"];
        const result = await place.pawl("run", "add", ...options, "--check", "npm test");
        const [last] = result.of("check-end").toReversed();
        const control = last?.verdict.is === "pass" ? last.verdict.evidence.control : undefined;
        return [result.of("run-end").at(-1)?.outcome.is, control];
      }),
    );
    expect(said).toEqual([
      ["needs-human", "not-seen"],
      ["verified", "seen"],
    ]);
  },
);
