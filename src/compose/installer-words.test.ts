import { expect, it } from "vitest";
import { whatWentWrong } from "./installer-words.ts";

const log = "npm error A complete log of this run can be found in: npm-debug.log\n";
const usage = "npm error\nnpm error Clean install a project\nnpm error\nnpm error Usage:\nnpm error npm ci\n";
const options =
  "npm error Options:\nnpm error [--omit <dev|optional|peer>]\nnpm error   --omit\nnpm error     Types to omit.\n";

it.each([
  [
    "npm ci with another lockfile",
    `npm warn deprecated a@1: error prone\nnpm error code EUSAGE\nnpm error\nnpm error \`npm ci\` can only install packages in sync.\nnpm error\nnpm error Missing: yaml@2.9.1 from lock file\n${usage}${options}${log}`,
    "`npm ci` can only install packages in sync. · Missing: yaml@2.9.1 from lock file",
  ],
  [
    "npm without a network",
    `npm error code ECONNREFUSED\nnpm error syscall connect\nnpm error errno ECONNREFUSED\nnpm error FetchError: request to http://r/yaml failed\nnpm error     at ClientRequest (x.js:1)\nnpm error   code: 'ECONNREFUSED',\nnpm error }\n${log}`,
    "FetchError: request to http://r/yaml failed",
  ],
  [
    "an older npm",
    "npm ERR! code E404\nnpm ERR! 404 Not Found - GET https://r/nope\nnpm ERR! 404 \nnpm ERR! A complete log of this run can be found in: x\n",
    "404 Not Found - GET https://r/nope",
  ],
  [
    "pip",
    "Collecting nope==9\n  WARNING: retrying\nERROR: Could not find a version that satisfies the requirement nope==9\nERROR: No matching distribution found for nope==9\n",
    "ERROR: Could not find a version that satisfies the requirement nope==9 · ERROR: No matching distribution found for nope==9",
  ],
  [
    "yarn",
    "yarn install v1\n[1/4] Resolving packages...\nerror Your lockfile needs to be updated, but yarn was run with `--frozen-lockfile`.\ninfo Visit https://yarnpkg.com\n",
    "error Your lockfile needs to be updated, but yarn was run with `--frozen-lockfile`. · info Visit https://yarnpkg.com",
  ],
  ["what names no error: its last lines", "one\ntwo\nthree\nfour\nfive\n", "two · three · four · five"],
  ["nothing", "\n", ""],
])("says what was wrong: %s", (_, output, words) => {
  expect(whatWentWrong(output)).toBe(words);
});

it("is bounded, whatever is printed", () => {
  expect(whatWentWrong(`error: ${"x".repeat(10_000)}`).length).toBeLessThan(600);
});
