/**
 * A number that a command prints, held to a range. The command is judged first as any command is; then its output has
 * to have the number, or nothing is known.
 */
import type { Failure, Verdict } from "../events.ts";
import type { Blobs, Check } from "../ports.ts";
import type { CheckSpecOf } from "../spec.ts";
import { commandCheck } from "./command.ts";
import { numbersIn } from "./metric/numbers.ts";
import { rangeWords } from "./requirement/unmet.ts";
import { plain, tailOf } from "./tail.ts";
import { unverifiable } from "./in-process.ts";

type Spec = CheckSpecOf<"metric">;

/** Of the output, from its end, searched for the number. */
const MAX_OUTPUT_BYTES = 1024 * 1024;

export function metricCheck(spec: Spec, surroundings: Parameters<typeof commandCheck>[1]): Check {
  const { name, command, required, timeoutMs } = spec;
  return {
    name,
    required,
    cost: "slow",
    async judge(tree, signal, about) {
      const tail = tailOf(MAX_OUTPUT_BYTES);
      const blobs = listening(surroundings.blobs, (chunk) => tail.write(chunk));
      const inner = commandCheck({ name, kind: "command", command, required, timeoutMs }, { ...surroundings, blobs });
      const verdict = await inner.judge(tree, signal, about);
      return verdict.is === "pass" ? measured(spec, { verdict, output: plain(tail.text()) }) : verdict;
    },
  };
}

/** What is written to the log is heard here too. */
function listening(blobs: Blobs, heard: (chunk: Uint8Array) => void): Blobs {
  return {
    ...blobs,
    writer(maxBytes) {
      const writer = blobs.writer(maxBytes);
      return {
        write(chunk) {
          heard(chunk);
          writer.write(chunk);
        },
        end: () => writer.end(),
      };
    },
  };
}

/** Of several numbers the worst counts: code that is measured may print one, too. */
function measured(
  { name, value: where, min, max }: Spec,
  { verdict, output }: { verdict: Extract<Verdict, { is: "pass" }>; output: string },
): Verdict {
  const what = "line" in where ? where.line : where.json;
  const found = numbersIn(output, where);
  const last = found.at(-1);
  if (last === undefined) return unverifiable(`${missing(where)}, so nothing was measured`);
  const wrong = found.find((one) => one < (min ?? -Infinity) || one > (max ?? Infinity));
  const value = wrong ?? worst(found, { min, max }) ?? last;
  const evidence = { ...verdict.evidence, value };
  if (wrong === undefined) return { is: "pass", evidence };
  const range = rangeWords({ min, max });
  const message = `${what} is ${wrong}, and has to be ${range}`;
  const failure: Failure = { fingerprint: `metric:${name}`, message, expected: range, actual: String(wrong) };
  return { is: "fail", evidence, failures: [failure], excerpt: message };
}

function worst(found: readonly number[], { min, max }: Pick<Spec, "min" | "max">): number | undefined {
  if (min !== undefined) return Math.min(...found);
  return max === undefined ? undefined : Math.max(...found);
}

const missing = (where: Spec["value"]): string =>
  "line" in where
    ? `it printed no line \`${where.line}: NUMBER\``
    : `it printed no JSON with a number at ${where.json}`;
