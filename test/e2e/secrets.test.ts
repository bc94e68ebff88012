/**
 * Secrets that agent, tools and checks print, in every encoding and in pieces, through a whole run of the real Claude
 * Code: none reaches a fact, the trace, a blob, a commit message, a prompt that pawl wrote, or the terminal (A6).
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openState } from "../../src/compose.ts";
import type { Step } from "../../src/standin/script.ts";
import { byIteration, CLAIM, cliPlace, type CliPlace } from "../support/cli.ts";
import { tempDir } from "../support/temp.ts";

const SECRETS = Array.from({ length: 20 }, (_, n) => {
  const digest = createHash("sha256").update(`a secret of the run ${n}`).digest("base64url");
  const tails = ["", "/+=", `&<>"'`, " and more", "\\back`tick$", "é☃ü", "%40:@"];
  return `${digest.slice(0, 12 + (n % 8))}${tails[n % tails.length] ?? ""}`;
});
const base64After = (count: number) => (secret: string) => Buffer.from("x".repeat(count) + secret).toString("base64");
const ENCODINGS: readonly ((secret: string) => string)[] = [
  (secret) => secret,
  base64After(0),
  base64After(1),
  base64After(2),
  (secret) => Buffer.from(secret).toString("base64url"),
  encodeURIComponent,
  (secret) => JSON.stringify(secret).slice(1, -1),
  (secret) => JSON.stringify(JSON.stringify(secret)).slice(3, -3),
  (secret) => secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;"),
  (secret) => Buffer.from(secret).toString("hex"),
  (secret) => secret.replaceAll("'", `'\\''`),
];
const FORMS = SECRETS.flatMap((secret) => ENCODINGS.map((encode) => encode(secret)));
/** As many characters in a row are a find; its ends may depend on what stands beside it. */
const FOUND_CHARS = 9;
const NEEDLES = new Set(
  FORMS.flatMap((form) => {
    const core = form.slice(3, -3);
    return Array.from({ length: Math.max(0, core.length - FOUND_CHARS + 1) }, (_, at) =>
      core.slice(at, at + FOUND_CHARS),
    );
  }),
);

function leaksIn(text: string): string[] {
  const found: string[] = [];
  for (let at = 0; at + FOUND_CHARS <= text.length; at += 1) {
    const piece = text.slice(at, at + FOUND_CHARS);
    if (NEEDLES.has(piece)) found.push(text.slice(Math.max(0, at - 30), at + 40));
  }
  return found;
}

/** Prints the file of secrets whole or in pieces of some characters, each written for itself. */
const PRINTER = `
import { readFileSync, writeSync } from "node:fs";
const [file, size] = process.argv.slice(2);
const bytes = readFileSync(file);
for (let at = 0; at < bytes.length; at += Number(size)) {
  writeSync(1, bytes.subarray(at, at + Number(size)));
  if (at % 700 < Number(size)) await new Promise((resolve) => setTimeout(resolve, 1));
}
`;

async function sinksOf({ env, repository, state, sent }: CliPlace, run: string): Promise<Record<string, string>> {
  const opened = openState(env);
  try {
    const blobs = join(state, "blobs");
    const files = readdirSync(blobs, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    // What the agent itself sends along is its conversation; what pawl wrote into it stands in text blocks of the user.
    const prompts = sent().flatMap((body) => userTexts(JSON.parse(body)));
    return {
      facts: JSON.stringify(await opened.journal.read(run)),
      trace: JSON.stringify(await opened.trace.read(run, {})),
      blobs: files.map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8")).join("\n"),
      commits: repository.git("log", "--format=%B%n%D", "main..HEAD"),
      prompts: prompts.join("\n"),
    };
  } finally {
    opened.close();
  }
}

function userTexts(body: {
  messages?: { role: string; content: string | { type: string; text?: string }[] }[];
}): string[] {
  return (body.messages ?? [])
    .filter(({ role }) => role === "user")
    .flatMap(({ content }) =>
      typeof content === "string"
        ? [content]
        : content.flatMap(({ type, text }) => (type === "text" ? [text ?? ""] : [])),
    );
}

it(`keeps ${SECRETS.length} secrets in ${ENCODINGS.length} encodings out of 6 sinks, whole and in pieces (A6)`, async () => {
  // Outside the repository: what is in it is handed over as it is.
  const file = join(tempDir("secrets"), "secrets.txt");
  writeFileSync(file, FORMS.map((form, n) => `not ok ${n} - value ${form} differs`).join("\n"));
  const print = (size: number): Step => ({
    tools: [{ name: "Bash", input: { command: `node print.mjs "${file}" ${size}` } }],
  });
  const goal = `make made.txt; the key is ${SECRETS[0] ?? ""}`;
  const place = await cliPlace({
    files: { "readme.md": "hello\n", "print.mjs": PRINTER },
    // Without a fence: in one, nobody sees the file of secrets.
    env: { ...Object.fromEntries(SECRETS.map((secret, n) => [`SERVICE_${n}_TOKEN`, secret])), PAWL_FENCE: "none" },
    script: byIteration({
      1: [print(4_096), { text: FORMS.slice(0, 60).join("\n") }],
      2: [print(7), { thinking: FORMS.slice(60, 90).join(" "), text: FORMS.slice(90, 120).join(" ") }],
      3: [
        { tools: [{ name: "Bash", input: { command: `echo done > made.txt; : ${FORMS[1] ?? ""}` } }] },
        { text: CLAIM },
      ],
    }),
  });
  const check = `node print.mjs "${file}" 11; node print.mjs "${file}" 4096 >&2; test -f made.txt`;
  const result = await place.pawl("run", goal, "--check", check, "--context", "fresh");
  expect(result.stdout).toMatch(/^verified /);
  // A slug has no capitals.
  expect(result.stdout).not.toContain((SECRETS[0] ?? "").slice(0, 6).toLowerCase());
  const run = /r-\d{8}-\w{6}/.exec(result.stderr)?.[0] ?? "";
  const views = await Promise.all(
    [["logs"], ["show", "-i", "1"], ["show", "-i", "1", "--prompt"], ["status"], ["memory", "list"]].map((args) =>
      place.pawl(...args),
    ),
  );
  const terminal = [result, ...views].map(({ stdout, stderr }) => stdout + stderr).join("\n");
  const sinks: Record<string, string> = { ...(await sinksOf(place, run)), terminal };
  // Agent and check have really printed them, to the last.
  expect(place.sent().join("\n")).toContain(`not ok ${FORMS.length - 1} - value`);
  expect(sinks["blobs"]).toContain(`not ok ${FORMS.length - 1} - value *** differs`);
  for (const [sink, text] of Object.entries(sinks)) {
    // Every sink was given something to mask; titles of commits are pawl's own words.
    if (sink !== "commits") expect([sink, text.includes("***")]).toEqual([sink, true]);
    expect([sink, leaksIn(text).slice(0, 5)]).toEqual([sink, []]);
  }
});
