import { calcPrice } from "@pydantic/genai-prices";
import * as fc from "fast-check";
import { execFileSync } from "node:child_process";
import { readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempDir } from "../../test/support/temp.ts";
import { priceOf } from "./prices.ts";

const none = { requests: 1, inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

describe("list prices", () => {
  it("are those of the published table: input 3, output 15, cache read 0.30, write 3.75 per million", () => {
    const model = "claude-sonnet-4-5";
    expect(priceOf(model, { ...none, inputTokens: 100_000 })).toBeCloseTo(0.3, 9);
    expect(priceOf(model, { ...none, outputTokens: 10_000 })).toBeCloseTo(0.15, 9);
    expect(priceOf(model, { ...none, cacheReadTokens: 100_000 })).toBeCloseTo(0.03, 9);
    expect(priceOf(model, { ...none, cacheWriteTokens: 100_000 })).toBeCloseTo(0.375, 9);
    expect(priceOf(model, none)).toBe(0);
  });

  it("take a turn of many requests as many, not as one long request at the higher rate", () => {
    const usage = { ...none, inputTokens: 1_000_000 };
    expect(priceOf("claude-sonnet-4-5", { ...usage, requests: 10 })).toBeCloseTo(3, 9);
    expect(priceOf("claude-sonnet-4-5", { ...usage, requests: 1 })).toBeGreaterThan(3);
    expect(priceOf("claude-sonnet-4-5", { ...usage, requests: 0 })).toBe(priceOf("claude-sonnet-4-5", usage));
  });

  it("are what the table's own program makes of them, for requests of every length", () => {
    const tokens = fc.integer({ min: 0, max: 400_000 });
    const model = fc.constantFrom("claude-sonnet-4-5", "claude-opus-4-1", "claude-haiku-4-5", "claude-3-opus", "gpt-5");
    fc.assert(
      fc.property(model, tokens, tokens, tokens, tokens, (name, input, read, write, output) => {
        const all = { input_tokens: input + read + write, cache_read_tokens: read, cache_write_tokens: write };
        const usage = { requests: 1, inputTokens: input, cacheReadTokens: read, cacheWriteTokens: write };
        const expected = calcPrice({ ...all, output_tokens: output }, name)?.total_price ?? Number.NaN;
        expect(priceOf(name, { ...usage, outputTokens: output })).toBeCloseTo(expected, 9);
      }),
    );
  });

  it("change their rate at the same length as the table's own program", () => {
    for (const length of [199_999, 200_000, 200_001]) {
      const expected = calcPrice({ input_tokens: length }, "claude-sonnet-4-5")?.total_price ?? Number.NaN;
      expect(priceOf("claude-sonnet-4-5", { ...none, inputTokens: length })).toBeCloseTo(expected, 9);
    }
  });

  it("know a model under its cloud names and with its context mark", () => {
    const usage = { ...none, inputTokens: 1000 };
    const plain = priceOf("claude-sonnet-4-5-20250929", usage);
    expect(plain).not.toBeNull();
    expect(priceOf("claude-sonnet-4-5-20250929[1m]", usage)).toBe(plain);
    expect(priceOf("us.anthropic.claude-sonnet-4-5-20250929-v1:0", usage)).toBe(plain);
  });

  it("are unknown, not nothing, for a model that nobody knows", () => {
    for (const model of ["scripted", "no-such-model", "", "sonnet"]) {
      expect(priceOf(model, { ...none, inputTokens: 1 })).toBeNull();
    }
  });

  it("are kept beside compiled code, where it is kept, and asked for anew when that is no price", () => {
    const cache = tempDir("compiled");
    const program = `const { enableCompileCache, getCompileCacheDir } = await import("node:module");
      enableCompileCache(${JSON.stringify(cache)});
      const { priceOf } = await import(${JSON.stringify(join(import.meta.dirname, "prices.ts"))});
      console.log(getCompileCacheDir());
      console.log(priceOf("claude-sonnet-4-5", { ...${JSON.stringify(none)}, inputTokens: 100_000 }));`;
    const priced = () =>
      execFileSync(process.execPath, ["--input-type=module", "-e", program], {
        env: { ...process.env, NODE_COMPILE_CACHE: undefined },
        encoding: "utf8",
      })
        .trim()
        .split("\n");
    const [folder = "", price] = priced();
    expect(price).toBe("0.3");
    const [file = "", ...more] = readdirSync(folder).filter((name) => name.startsWith("prices-"));
    expect(more).toEqual([]);
    writeFileSync(join(folder, file), JSON.stringify({ input_mtok: 7 }));
    expect(priced()[1]).toBe("0.7");
    for (const broken of ["", "[1]", "{"]) {
      writeFileSync(join(folder, file), broken);
      expect(priced()[1]).toBe("0.3");
    }
    writeFileSync(join(folder, file), JSON.stringify({ input_mtok: 7 }));
    utimesSync(join(folder, file), 0, 0);
    expect(priced()[1]).toBe("0.3");
  });
});
