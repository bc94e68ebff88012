/** Fifty canary secrets where a user's are: variables, files of the home, the environment of other processes. */
import { spawn, type ChildProcess } from "node:child_process";
import { writeFiles } from "../temp.ts";

const NAMES = (
  "AWS_SECRET_ACCESS_KEY GITHUB_TOKEN NPM_TOKEN OPENAI_API_KEY DATABASE_URL SLACK_BOT_TOKEN STRIPE_KEY PGPASSWORD " +
  "DOCKER_AUTH SSH_AUTH_SOCK GPG_PASSPHRASE VAULT_TOKEN KUBECONFIG_DATA SENTRY_DSN TWILIO_AUTH MY_SETTING PLAIN_NAME " +
  "FOO_HOME BAR_DIR BAZ_ROOT"
).split(" ");
const FILES = (
  ".ssh/id_ed25519 .ssh/config .aws/credentials .aws/config .netrc .npmrc .pypirc .git-credentials .gitconfig " +
  ".config/gh/hosts.yml .config/gcloud/credentials.db .docker/config.json .kube/config .gnupg/secring.gpg .bash_history " +
  ".env notes.txt Documents/taxes.txt .local/share/keyrings/login.keyring .mozilla/logins.json"
).split(" ");
const OTHERS = 10;

const secret = (kind: string, n: number): string => `canary-${kind}-${n}-5c81e0a7`;

export const VARIABLES: Readonly<Record<string, string>> = Object.fromEntries(
  NAMES.map((name, n) => [name, secret("variable", n)]),
);
const HOME_FILES = Object.fromEntries(FILES.map((name, n) => [name, `key = ${secret("file", n)}\n`]));
const OF_OTHERS = Object.fromEntries(Array.from({ length: OTHERS }, (_, n) => [`OTHER_${n}`, secret("other", n)]));

/** Without beginnings that are alike: what is looked for in texts. */
export const SECRETS: readonly string[] = [
  ...Object.values(VARIABLES),
  ...FILES.map((_, n) => secret("file", n)),
  ...Object.values(OF_OTHERS),
];

/** Also starts a process that has the last ten in its environment; to be ended by its pid. */
export function plantSecrets(home: string): ChildProcess {
  writeFiles(home, HOME_FILES);
  return spawn("sleep", ["300"], { env: { PATH: process.env["PATH"], ...OF_OTHERS }, stdio: "ignore" });
}
