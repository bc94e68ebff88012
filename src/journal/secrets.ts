/** Which values of the environment are secrets, and every text a secret may appear as. */
import { isSecretName } from "./secret-names.ts";

/** Shorter values are words and numbers; masking them would mask ordinary text. */
export const MIN_SECRET_CHARS = 8;
/** A line of a longer secret, such as a key in several lines, is one by itself from this length on. */
const MIN_LINE_CHARS = 16;
/** Settings that stand in variables with secretive names. */
const ORDINARY: ReadonlySet<string> = new Set(
  (
    "disabled enabled required optional default anonymous interactive " +
    "production development password undefined automatic keychain"
  ).split(" "),
);
const PATH =
  /^(?:~|\.{1,2}|\/(?:tmp|run|home|usr|var|etc|root|opt|private|mnt|proc|dev|nix|Users|Library))\/|^[A-Za-z]:\\/;
const USERINFO = /^[A-Za-z][\w+.-]*:\/\/[^\s:@/]*:([^\s@/]+)@/;

export function isPath(value: string): boolean {
  return PATH.test(value);
}

export function secretsIn(environment: Readonly<Record<string, string | undefined>>): string[] {
  const secrets = Object.entries(environment).flatMap(([name, value = ""]) => {
    const password = USERINFO.exec(value)?.[1];
    const fromUrl = password === undefined ? [] : [password, decoded(password)];
    return isSecretName(name) && !isPath(value) ? [value, ...fromUrl] : fromUrl;
  });
  return [...new Set(secrets.flatMap(parts))].filter(isMaskable);
}

function isMaskable(value: string): boolean {
  return value.length >= MIN_SECRET_CHARS && !ORDINARY.has(value.toLowerCase()) && new Set(value).size > 2;
}

/** With and without surrounding space and quotes, and line by line. */
function parts(value: string): string[] {
  const trimmed = value.trim();
  const bare = trimmed.replace(/^(["'])(.*)\1$/s, "$2");
  const lines = bare.split(/\r?\n/).map((line) => line.trim());
  return [
    trimmed,
    bare,
    ...(lines.length > 1 ? lines.filter((line) => line.length >= MIN_LINE_CHARS && !line.startsWith("-----")) : []),
  ];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The secret as other programs write it. All at least MIN_SECRET_CHARS long. */
export function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const json = JSON.stringify(secret).slice(1, -1);
  const uri = encodeURIComponent(secret.toWellFormed());
  const forms = [
    secret,
    Array.from(secret).toReversed().join(""),
    ...[0, 1, 2].flatMap((shift) => base64Core(bytes, shift)),
    bytes.toString("hex"),
    bytes.toString("hex").toUpperCase(),
    uri,
    uri.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()),
    uri.replaceAll("%20", "+"),
    uri.replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`),
    json,
    JSON.stringify(json).slice(1, -1),
    json.replaceAll(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`),
    json.replaceAll("/", "\\/"),
    escapeXml(secret, { "'": "&apos;" }),
    escapeXml(secret, { "'": "&#39;" }),
    escapeXml(secret, { "'": "&#x27;" }),
    escapeXml(secret, { "'": "&#39;", '"': "&#34;" }),
    escapeXml(secret, { "'": "'" }),
    escapeXml(secret, { "'": "'", '"': '"' }),
    secret.replaceAll("'", `'\\''`),
    secret.replaceAll("'", `'"'"'`),
    secret.replaceAll("'", "''"),
    secret.replaceAll(/["\\$`]/g, "\\$&"),
    secret.replaceAll('"', '\\"'),
    secret.replaceAll(/[^\w@%+=:,./-]/g, "\\$&"),
  ];
  // Streams are searched byte by byte, so a form beyond ASCII is also looked for as its bytes.
  const all = forms.flatMap((form) => [form, Buffer.from(form).toString("latin1")]);
  return [...new Set(all)].filter((form) => form.length >= MIN_SECRET_CHARS);
}

/** The characters of the base64 text that do not depend on what stands before and after, in both alphabets. */
function base64Core(bytes: Buffer, shift: number): string[] {
  const whole = Buffer.concat([Buffer.alloc(shift), bytes]);
  const text = whole.toString("base64").replaceAll("=", "");
  const first = shift === 0 ? 0 : shift + 1;
  const core = text.slice(first, whole.length % 3 === 0 ? undefined : -1);
  return [core, core.replaceAll("+", "-").replaceAll("/", "_")];
}

function escapeXml(text: string, quotes: Record<string, string>): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", ...quotes };
  return text.replaceAll(/[&<>"']/g, (char) => entities[char] ?? char);
}
