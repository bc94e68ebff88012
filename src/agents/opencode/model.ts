/** Models as opencode names them: `provider/model`, where the model may hold slashes and colons of its own. */
import { UsageError } from "../../errors.ts";
import { PROVIDER_NAMES, type Login } from "./login.ts";

export interface ModelName {
  providerID: string;
  modelID: string;
}

/** Whose models begin so, for those that are named without a provider. */
const MAKERS: readonly [RegExp, string][] = [
  [/^claude-/, "anthropic"],
  [/^(gpt-|o\d|codex-)/, "openai"],
  [/^gemini-/, "google"],
  [/^grok-/, "xai"],
  [/^deepseek-/, "deepseek"],
];

/** Throws UsageError for a name that leads nowhere. `any`: the providers are another server's to know. */
export function modelNamed(
  name: string,
  { logins, any = false }: { logins: readonly Login[]; any?: boolean },
): ModelName {
  const slash = name.indexOf("/");
  const head = name.slice(0, slash);
  const known = logins.map(({ provider }) => provider);
  if (slash > 0 && (any || known.includes(head))) return { providerID: head, modelID: name.slice(slash + 1) };
  if (slash > 0 && PROVIDER_NAMES.includes(head)) {
    throw new UsageError(`--model ${name}: opencode has no login for ${head}`, {
      hint: `logins: ${logins.map(({ describe }) => describe).join(", ") || "none"}`,
    });
  }
  if (slash < 0) {
    const maker = MAKERS.find(([pattern]) => pattern.test(name))?.[1];
    const own = maker !== undefined && (any || known.includes(maker)) ? maker : undefined;
    const only = known.length === 1 ? known[0] : undefined;
    const provider = own ?? only;
    if (provider !== undefined) return { providerID: provider, modelID: name };
  }
  throw new UsageError(`--model ${name}: not a model of a provider that pawl can lead opencode to`, {
    hint: `provider/model, with a provider of: ${PROVIDER_NAMES.join(", ")}; or --agent-server for any other`,
  });
}
