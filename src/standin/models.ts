/** `GET /v1/models`: one shape that both families of clients can read. */
import type { Script } from "./script.ts";

const DEFAULT_MODELS = ["claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "gpt-5.6", "gpt-5"];

export function modelList(script: Script) {
  const ids = (typeof script === "function" ? undefined : script.models) ?? DEFAULT_MODELS;
  const data = ids.map((id) => ({
    id,
    type: "model",
    object: "model",
    display_name: id,
    created: 0,
    created_at: "1970-01-01T00:00:00Z",
    owned_by: "stand-in",
  }));
  return { object: "list", data, has_more: false, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null };
}
