/** The program's input as the SDK has it: what was said ahead of the SDK is not said twice, and what it says first is learned. */
import type { Writable } from "node:stream";
import { helloId, isMessage, type Said } from "./opening.ts";

interface Heard {
  /** What was said ahead, with the name of the request in it. */
  ahead?: { id: string; hello: string; message: string | undefined } | undefined;
  /** The SDK makes its first request; `id` is its name for it. */
  onHello: (id: string) => void;
  /** It says something else than was said ahead. */
  onOther: () => void;
  /** What it says first, where nothing was said ahead. */
  onFirst: (said: Said) => void;
}

export function heardInput(stdin: Writable, { ahead, onHello, onOther, onFirst }: Heard): Writable {
  let hello: string | undefined;
  let message: string | undefined;

  /** Whether it has been said already. */
  function hear(line: string): boolean {
    if (hello === undefined) {
      hello = line;
      if (ahead === undefined) return false;
      const id = helloId(line) ?? "";
      onHello(id);
      if (line.replace(id, ahead.id) !== ahead.hello) onOther();
      return true;
    }
    if (message !== undefined || !isMessage(line)) return false;
    message = line;
    if (ahead === undefined) onFirst({ hello, message });
    if (ahead?.message === undefined) return false;
    if (line !== ahead.message) onOther();
    return true;
  }

  // The SDK gives a line a time, and nothing else.
  const write = (line: string): boolean => hear(line) || stdin.write(line);
  return new Proxy(stdin, {
    get(target, name) {
      if (name === "write") return write;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
