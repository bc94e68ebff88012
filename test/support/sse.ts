/** Reads server-sent events from a response, for tests of streams. */
export interface SseEvent {
  event: string | undefined;
  data: Record<string, unknown> | "[DONE]";
}

export function parseSse(text: string): SseEvent[] {
  return text
    .split("\n\n")
    .filter((frame) => frame !== "")
    .map((frame) => {
      const field = (name: string): string | undefined =>
        frame
          .split("\n")
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2);
      const data = field("data") ?? "null";
      return {
        event: field("event"),
        data: data === "[DONE]" ? data : (JSON.parse(data) as Record<string, unknown>),
      };
    });
}

export async function readSse(response: Response): Promise<SseEvent[]> {
  return parseSse(await response.text());
}
