/**
 * The environment of agents and checks, built from an allow-list: what is not named here or asked for by a person is
 * not passed, so that secrets and code-loading variables (NODE_OPTIONS, BASH_ENV, LD_PRELOAD, GIT_*) stay out. What an
 * agent needs to log in is added by whoever composes that agent.
 */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { UsageError } from "../errors.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Every process pawl starts carries its run's id under this name; `sweep` finds what was left behind by it. */
export const RUN_TAG = "PAWL_RUN";
/** And one id per started process, so that its whole tree can be ended without touching the rest of the run. */
export const PROCESS_TAG = "PAWL_PROC";

/** Why each name is passed. A proxy's address may hold a password; without it nothing would connect. */
const ALLOWED: Readonly<Record<string, string>> = {
  "to find programs": "PATH SHELL",
  "who and where": "HOME USER LOGNAME TMPDIR TMP TEMP XDG_RUNTIME_DIR",
  "language, time zone, terminal": "LANG LANGUAGE TZ TERM COLORTERM NO_COLOR FORCE_COLOR CI",
  "places of toolchains":
    "JAVA_HOME GOROOT GOPATH GOBIN CARGO_HOME RUSTUP_HOME PYENV_ROOT PYENV_VERSION RBENV_ROOT NVM_DIR NVM_BIN " +
    "VOLTA_HOME FNM_DIR ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR SDKMAN_DIR DOTNET_ROOT ANDROID_HOME DENO_DIR " +
    "BUN_INSTALL PNPM_HOME VIRTUAL_ENV CONDA_PREFIX NIX_PROFILES NIX_PATH LOCALE_ARCHIVE PKG_CONFIG_PATH",
  "a company's certificates": "SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE",
  "a company's proxy": "HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy all_proxy",
};
/** Names whose values are folders with programs and libraries, nothing of the user's own. */
export const TOOLCHAIN_NAMES: readonly string[] = (ALLOWED["places of toolchains"] ?? "").split(" ");
/** Names whose values are files or folders with certificates. */
export const CERTIFICATE_NAMES: readonly string[] = (ALLOWED["a company's certificates"] ?? "").split(" ");
const ALLOWED_NAMES = Object.values(ALLOWED).flatMap((names) => names.split(" "));
/** Where tools read settings and keep caches; under the private home when there is one. */
const XDG_NAMES = ["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"];
/** Locale categories: LC_ALL, LC_CTYPE, … */
const ALLOWED_PREFIX = "LC_";
const FALLBACK_PATH = "/usr/local/bin:/usr/bin:/bin";
/** For programs that pawl starts for itself outside any fence: nowhere that an agent can write. */
export const SYSTEM_PATH = "/usr/bin:/bin:/usr/local/bin:/run/current-system/sw/bin";
/** Toolchains that are looked for under HOME, and so would vanish behind a private one. */
const TOOLCHAINS = { RUSTUP_HOME: ".rustup", PYENV_ROOT: ".pyenv", RBENV_ROOT: ".rbenv", VOLTA_HOME: ".volta" };

interface Wanted {
  run: string;
  /** Names a person asked for. */
  add?: readonly string[];
  /** A private HOME, so that tools which write "global" settings write there. */
  home?: string;
}

export function allowedEnvironment(env: Environment, { run, add = [], home }: Wanted): Record<string, string> {
  for (const name of add) checkName(name);
  const allowed = new Set([...ALLOWED_NAMES, ...(home === undefined ? XDG_NAMES : []), ...add]);
  const passed = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (allowed.has(entry[0]) || entry[0].startsWith(ALLOWED_PREFIX)),
  );
  const own = home === undefined ? {} : { HOME: home };
  const found = home === undefined ? {} : toolchains(env["HOME"] ?? homedir());
  return { PATH: FALLBACK_PATH, ...found, ...Object.fromEntries(passed), ...own, [RUN_TAG]: run };
}

function toolchains(home: string): Record<string, string> {
  const places = Object.entries(TOOLCHAINS).map(([name, folder]) => [name, join(home, folder)] as const);
  return Object.fromEntries(places.filter(([, path]) => existsSync(path)));
}

/** pawl's own names are refused: they tell an agent where its judge lives, or would hide it from the sweep. */
function checkName(name: string): void {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    throw new UsageError(`not the name of an environment variable: ${JSON.stringify(name)}`, {
      hint: "Give names only; values are taken from pawl's own environment.",
    });
  }
  if (!name.startsWith("PAWL_")) return;
  throw new UsageError(`${name} is pawl's own and is not passed to agents or checks`, { hint: "Leave it out." });
}
