/** A6: secrets do not get through, in any encoding, whole or in pieces; ordinary text does. */
import { createHash, randomUUID } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { makeRedact, type Redactor } from "./redact.ts";

const SECRETS = Array.from({ length: 20 }, (_, n) => {
  const digest = createHash("sha256").update(`secret ${n}`).digest();
  const tails = ["", "/+=", `&<>"'`, " with blanks", "\\back`tick$", "é☃ü", "%40:@"];
  return `${digest.toString("base64url").slice(0, 9 + n)}${tails[n % tails.length] ?? ""}`;
});
const ENVIRONMENT = Object.fromEntries(SECRETS.map((secret, n) => [`SERVICE_${n}_TOKEN`, secret]));
const base64After = (count: number) => (text: string) =>
  Buffer.from("x".repeat(count) + text + "yz").toString("base64");

const ENCODINGS: Record<string, (secret: string) => string> = {
  plain: (secret) => secret,
  "base64, no shift": base64After(0),
  "base64, shift 1": base64After(1),
  "base64, shift 2": base64After(2),
  base64url: (secret) => Buffer.from(`x${secret}`).toString("base64url"),
  uri: encodeURIComponent,
  json: (secret) => JSON.stringify(secret).slice(1, -1),
  "json in json": (secret) => JSON.stringify(JSON.stringify(secret)).slice(3, -3),
  xml: (secret) =>
    secret
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;")
      .replaceAll('"', "&quot;")
      .replaceAll("'", "&apos;"),
  "xml, inside double quotes": (secret) =>
    secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;"),
  "html by code points": (secret) =>
    secret
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;")
      .replaceAll('"', "&#34;")
      .replaceAll("'", "&#39;"),
  hex: (secret) => Buffer.from(secret).toString("hex"),
  HEX: (secret) => Buffer.from(secret).toString("hex").toUpperCase(),
  shell: (secret) => `'${secret.replaceAll("'", `'\\''`)}'`,
  reversed: (secret) => Array.from(secret).toReversed().join(""),
};

/** What an attacker would look for: eight characters in a row of the encoded secret. */
function leaks(output: string, encoded: string): boolean {
  for (let at = 0; at + 8 <= encoded.length; at += 1) if (output.includes(encoded.slice(at, at + 8))) return true;
  return false;
}

function through({ stream }: Redactor, pieces: readonly string[]): string {
  const { push, end } = stream();
  return pieces.map(push).join("") + end();
}

describe("known secrets", () => {
  const redact = makeRedact({ environment: ENVIRONMENT });

  test.each(Object.entries(ENCODINGS))("20 secrets as %s are masked, whole and across pieces (A6)", (_name, encode) => {
    for (const secret of SECRETS) {
      const encoded = encode(secret);
      const text = `before ${encoded} after`;
      const core = encoded.slice(4, -4);
      expect(redact(text).includes("***"), text).toBe(true);
      expect(leaks(redact(text), core), redact(text)).toBe(false);
      for (const size of [1, 3, 10]) {
        const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, n) =>
          text.slice(n * size, n * size + size),
        );
        expect(through(redact, pieces)).toBe(redact(text));
      }
    }
  });

  test("where in a long stream a secret stands makes no difference", () => {
    const [secret = ""] = SECRETS;
    for (const offset of [65_530, 65_536, 69_630, 69_640, 131_072, 200_000]) {
      const text = `${"a line of a log\n".repeat(20_000).slice(0, offset)}${secret}${" more".repeat(30_000)}`;
      const pieces = Array.from({ length: Math.ceil(text.length / 4_000) }, (_, n) =>
        text.slice(n * 4_000, (n + 1) * 4_000),
      );
      const output = through(redact, pieces);
      expect(output).toBe(text.replace(secret, "***"));
      expect(redact(text)).toBe(output);
    }
  });

  test("a word without end is masked as one and what follows it is kept", () => {
    const text = `key sk-ant-${"a1".repeat(400_000)} and more`;
    expect(redact(text)).toBe("key *** and more");
  });

  test("passwords in URLs of any variable count, and so do the lines of a longer secret", () => {
    const lines = ["c2VjcmV0IGxpbmUgbnVtYmVyIG9uZQ", "c2VjcmV0IGxpbmUgbnVtYmVyIHR3bw"];
    const redact = makeRedact({
      environment: { DATABASE_URL: "postgres://me:hunter2%21hunter@db/x", DEPLOY_KEY: lines.join("\n") },
      extra: ["known otherwise"],
    });
    expect(redact("password is hunter2%21hunter or hunter2!hunter")).toBe("password is *** or ***");
    expect(redact(`> ${lines[1]} <`)).toBe("> *** <");
    expect(redact("it is known otherwise")).toBe("it is ***");
  });

  test("paths, switches, words and short values in secretive variables are no secrets", () => {
    const environment = {
      SSH_AUTH_SOCK: "/run/user/1000/agent.1234",
      AUTH_MODE: "disabled",
      USE_TOKEN: "true",
      KEY: "short",
      CACHE_KEY: "--------",
      MONKEY: "not a secret name",
    };
    const text = Object.values(environment).join(" ");
    expect(makeRedact({ environment })(text)).toBe(text);
  });
});

describe("shapes", () => {
  const redact = makeRedact({ environment: {} });
  const body = "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5";

  test.each([
    `sk-ant-api03-${body}`,
    `sk-proj-${body}`,
    `ghp_${body}`,
    `gho_${body}`,
    `github_pat_11${body}`,
    `glpat-${body.slice(0, 20)}`,
    `xoxb-1234567890-${body}`,
    "AKIAIOSFODNN7EXAMPLE",
    `AIza${body.slice(0, 35)}`,
    `npm_${body}`,
    `hf_${body}`,
    `sk_live_${body}`,
    `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.${body}`,
  ])("%s is masked", (key) => {
    expect(redact(`use ${key}, please`)).toBe("use ***, please");
    expect(redact(`"${key}"`)).toBe('"***"');
    expect(through(redact, ["x ", key.slice(0, 5), key.slice(5), " y"])).toBe("x *** y");
  });

  test.each([
    [`Authorization: Bearer ${body}`, "Authorization: Bearer ***"],
    [`{"authorization":"Basic dXNlcjpwYXNz"}`, `{"authorization":"Basic ***"}`],
    ["git clone https://me:s3cret@host/x.git", "git clone https://me:***@host/x.git"],
    [
      `-----BEGIN RSA PRIVATE KEY-----\n${`${body}\n`.repeat(20)}-----END RSA PRIVATE KEY-----\nok`,
      "-----BEGIN RSA PRIVATE KEY-----***-----END RSA PRIVATE KEY-----\nok",
    ],
    [
      `"-----BEGIN PRIVATE KEY-----\\n${`${body}\\n`.repeat(20)}-----END PRIVATE KEY-----\\n"`,
      `"-----BEGIN PRIVATE KEY-----***-----END PRIVATE KEY-----\\n"`,
    ],
  ])("%s", (text, expected) => expect(redact(text)).toBe(expected));

  test.each([
    ["DB_PASSWORD=correct-horse", "DB_PASSWORD=***"],
    ["export AWS_SECRET_ACCESS_KEY='wJalrXUtnFEMI/K7MDENG'", "export AWS_SECRET_ACCESS_KEY='***'"],
    ["PGPASSWORD=hunter22 psql", "PGPASSWORD=*** psql"],
    ["API_KEY=abcdef1234567890abcdef", "API_KEY=***"],
    ['{"api_key": "abcd1234efgh5678"}', '{"api_key": "***"}'],
    ['{\\"accessToken\\":\\"abcd1234efgh\\"}', '{\\"accessToken\\":\\"***\\"}'],
    ["password: s3cr3tvalue", "password: ***"],
    ['"password": "correct-horse-battery"', '"password": "***"'],
    ["tool --token abc123def456 --other", "tool --token *** --other"],
    ["https://host/?access_token=abc123def456&x=1", "https://host/?access_token=***&x=1"],
  ])("by its name: %s", (text, expected) => expect(redact(text)).toBe(expected));

  test.each([
    createHash("sha256").update("x").digest("hex"),
    createHash("sha1").update("x").digest("hex"),
    randomUUID(),
    `"key": "${createHash("sha256").update("x").digest("hex")}"`,
    `session_key=${randomUUID()}`,
    "sk-spinner-fading-circle-animation",
    "task-management-for-2024-and-later",
    "const token = await readToken(path2);",
    "key: string; token: Token; password: z.string()",
    "API_KEY=$OTHER_KEY TOKEN=${TOKEN} SECRET=<your-secret>",
    "apiKey: process.env.API_KEY2",
    "KEY=/usr/share/keyrings/one.gpg",
    "MAX_TOKENS=4096 TOKENIZERS_PARALLELISM=false",
    "https://example.com:8080/a@b http://[::1]:3000/",
    "monkey=business123456",
    "-----BEGIN PRIVATE KEY-----",
  ])("ordinary text is left alone: %s", (text) => expect(redact(text)).toBe(text));

  test("our own sources lose at most 0.01 % of their bytes (A6)", () => {
    const redact = makeRedact({ environment: ENVIRONMENT });
    const root = fileURLToPath(new URL("../..", import.meta.url));
    const files = globSync("{src,docs,bench,scripts}/**/*.{ts,md,sh}", { cwd: root });
    let bytes = 0;
    let lost = 0;
    for (const file of files.filter((name) => !name.endsWith(".test.ts"))) {
      const text = readFileSync(`${root}/${file}`, "utf8");
      const masks = redact(text).split("***").length - text.split("***").length;
      bytes += text.length;
      lost += masks === 0 ? 0 : text.length - redact(text).length + 3 * masks;
    }
    expect(bytes).toBeGreaterThan(50_000);
    expect(lost / bytes).toBeLessThanOrEqual(0.0001);
  });
});

describe("laws", () => {
  const redact = makeRedact({ environment: ENVIRONMENT });
  const glue = [" ", "\n", "=", ": ", '"', "'", ".", "://", "@", "\\n", "***"];
  const names = ["TOKEN", "api_key", "password", "sk-", "ghp_", "eyJ", "Bearer ", "-----BEGIN PRIVATE KEY-----"];
  const values = ["a1B2c3D4e5F6g7H8i9J0", "value", ...SECRETS.slice(0, 4)];
  const word = fc.constantFrom(...glue, ...names, ...values);
  const text = fc.array(word, { maxLength: 30 }).map((words) => words.join(""));

  test("masking twice is masking once", () => {
    fc.assert(
      fc.property(text, (text) => {
        const once = redact(text);
        expect(redact(once)).toBe(once);
      }),
      { numRuns: 3_000 },
    );
  });

  test("pieces make no difference", () => {
    const before = "a line of a log\n".repeat(4_096);
    const behind = "a line of a log\n".repeat(256);
    fc.assert(
      fc.property(text, fc.nat({ max: 40 }), (text, at) => {
        expect(through(redact, [text.slice(0, at), text.slice(at)])).toBe(redact(text));
        // So much before and behind it that it is let go in two parts, cut at the same place.
        const first = `${before}${text}${behind.slice(Math.min(at, text.length))}`;
        expect(through(redact, [first, "the rest\n"])).toBe(redact(`${first}the rest\n`));
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    "a",
    "key=",
    "eyJ",
    "sk-",
    "-----BEGIN PRIVATE KEY-----",
    "://a:",
    "bearer ",
    'token="',
    "\\",
    " ",
    "\ud800",
  ])("a million times %j is worked through", (piece) =>
    expect(redact(piece.repeat(1_000_000 / piece.length)).length).toBeLessThanOrEqual(1_000_000),
  );
});
