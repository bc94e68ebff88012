/** The budget of a request is kept to by the provider's own count: nothing that has more tokens is sent. */
import { outcomeOfRefusal } from "../outcome.ts";
import type { Asked } from "./ask.ts";
import type { Playing } from "./course.ts";
import { refusalOf } from "./outcome.ts";
import type { Params } from "./params.ts";

/** What is counted may be a little more when it is sent. */
const COUNT_MARGIN = 0.02;
/** Of those that have no such count. */
const NOT_OFFERED: readonly (number | null)[] = [400, 404, 405, 501];
const COUNTED = ["model", "system", "tools", "messages", "output_config", "context_management"];

/** undefined: it may be sent. */
export async function overBudget(params: Params, playing: Playing): Promise<Asked | undefined> {
  const { requestTokens } = playing.options;
  const { body } = params;
  const counted = Object.fromEntries(Object.entries(body).filter(([name]) => COUNTED.includes(name)));
  // No text has more tokens than bytes.
  const bytes = Buffer.byteLength(JSON.stringify(counted));
  if (requestTokens === undefined || bytes <= requestTokens) return undefined;
  const tokens = await tokensIn({ body: counted, betas: params.betas }, playing);
  if (typeof tokens === "object") return tokens;
  const most = Math.floor(requestTokens * (1 - COUNT_MARGIN));
  if (tokens !== undefined && tokens <= most) return undefined;
  const has = tokens === undefined ? `has ${bytes} bytes, which nobody counts` : `has ${tokens} tokens`;
  const text = `the request ${has}; it may have ${requestTokens} tokens`;
  return refused({ kind: "context", status: null, text });
}

const refused = (refusal: Parameters<typeof outcomeOfRefusal>[0]): Asked => ({
  is: "refused",
  refusal,
  outcome: outcomeOfRefusal(refusal),
});

/** undefined: it cannot be known here. */
async function tokensIn({ body, betas }: Params, playing: Playing): Promise<number | Asked | undefined> {
  const { messages, beta } = playing.connection.client;
  const { signal } = playing;
  try {
    const { input_tokens: tokens } = await (betas.length === 0
      ? messages.countTokens(body as never, { signal })
      : beta.messages.countTokens({ ...body, betas } as never, { signal }));
    playing.seen();
    return tokens;
  } catch (error) {
    const refusal = refusalOf(error, playing.connection.sdk);
    return NOT_OFFERED.includes(refusal.status) ? undefined : refused(refusal);
  }
}
