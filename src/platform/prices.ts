/**
 * List prices, for what an agent does not report itself. A model nobody knows has no price; it is never free. The table
 * takes 5 MB to hold, so a process of its own reads the few numbers of a model out of it. They are kept for an hour where
 * compiled code is kept, for other drivers: whoever can write there can do more than change a price.
 */
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { createRequire } from "node:module";
import { fault } from "./faults.ts";
import { kept } from "./kept.ts";

interface Tokens {
  requests: number;
  /** Without what was read from or written to the cache. */
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
}

/** Dollars per million; long requests may cost more per token from some length of the whole input on. */
type Rate = number | { base: number; tiers: readonly { start: number; price: number }[] };
interface Rates {
  input_mtok?: Rate;
  output_mtok?: Rate;
  cache_read_mtok?: Rate;
  cache_write_mtok?: Rate;
}

const MILLION = 1_000_000;
const ASK_LIMIT_MS = 10_000;
/** Some prices depend on the date or the time of day. */
const KEPT_MS = 3_600_000;
/** The first of the names that the table knows; `null` when it knows none. */
const ASK = `const { calcPrice } = require(process.argv[1]);
const found = process.argv.slice(2).map((name) => calcPrice({}, name)).find((price) => price !== null);
process.stdout.write(JSON.stringify(found?.model_price ?? null));`;

const require = createRequire(import.meta.url);
const known = new Map<string, { rates: Rates | null; until: number }>();

/** US dollars, null when the model is unknown. Takes a moment for a model's first time and microseconds after. */
export function priceOf(model: string, usage: Tokens): number | null {
  const rates = ratesOf(model);
  return rates === null ? null : priceAt(rates, usage);
}

/** Dollars per million tokens, as a person says it. */
interface Said {
  input: number;
  output: number;
  cacheRead?: number | undefined;
  cacheWrite?: number | undefined;
}

/** By what a person said of models, and nothing else; null for any other model. */
export function pricesBy(said: Readonly<Record<string, Said>>): typeof priceOf {
  return (model, usage) => {
    const price = Object.hasOwn(said, model) ? said[model] : undefined;
    if (price === undefined) return null;
    const { input, output, cacheRead, cacheWrite } = price;
    const rates: Rates = {
      input_mtok: input,
      output_mtok: output,
      ...(cacheRead === undefined ? {} : { cache_read_mtok: cacheRead }),
      ...(cacheWrite === undefined ? {} : { cache_write_mtok: cacheWrite }),
    };
    return priceAt(rates, usage);
  };
}

function ratesOf(model: string): Rates | null {
  const now = performance.now();
  let kept = known.get(model);
  if (kept === undefined || kept.until < now) {
    kept = { rates: found(namesOf(model)), until: now + KEPT_MS };
    known.set(model, kept);
  }
  return kept.rates;
}

function found(names: readonly string[]): Rates | null {
  const table = require.resolve("@pydantic/genai-prices");
  const { mtimeMs, size } = statSync(table);
  const last = kept("prices", [table, mtimeMs, size, names], { maxAgeMs: KEPT_MS });
  const read = last.read();
  if (read === null || (typeof read === "object" && !Array.isArray(read))) return read;
  const rates = ask(table, names);
  last.keep(rates);
  return rates;
}

function ask(table: string, names: readonly string[]): Rates | null {
  try {
    fault("spawn");
    const asked = execFileSync(process.execPath, ["-e", ASK, table, ...names], {
      encoding: "utf8",
      env: {},
      stdio: ["ignore", "pipe", "ignore"],
      timeout: ASK_LIMIT_MS,
    });
    return JSON.parse(asked) as Rates | null;
  } catch {
    // No process to be had: better large than without a price.
    const { calcPrice } = require(table) as {
      calcPrice: (usage: object, name: string) => { model_price: Rates } | null;
    };
    return names.map((name) => calcPrice({}, name)).find((price) => price !== null)?.model_price ?? null;
  }
}

function priceAt(rates: Rates, usage: Tokens): number {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  // A turn's sum is priced as that many requests of average size, or it would count as one long one.
  const length = (inputTokens + cacheReadTokens + cacheWriteTokens) / Math.max(usage.requests, 1);
  const of = (rate: Rate | undefined): number => (rate === undefined ? 0 : perToken(rate, length));
  return (
    inputTokens * of(rates.input_mtok) +
    cacheReadTokens * of(rates.cache_read_mtok ?? rates.input_mtok) +
    cacheWriteTokens * of(rates.cache_write_mtok ?? rates.input_mtok) +
    outputTokens * of(rates.output_mtok)
  );
}

function perToken(rate: Rate, length: number): number {
  if (typeof rate === "number") return rate / MILLION;
  const tier = rate.tiers.findLast(({ start }) => length > start);
  return (tier?.price ?? rate.base) / MILLION;
}

/** As given, then without the marks of context size, cloud region and release: `us.anthropic.x-v1:0`, `x@20250929`. */
function namesOf(model: string): string[] {
  const plain = model
    .replace(/\[[^\]]*\]$/, "")
    .replace(/^([a-z]+\.)*anthropic\./, "")
    .replace(/-v\d+:\d+$/, "")
    .replace(/@.*$/, "");
  return plain === model ? [model] : [model, plain];
}
