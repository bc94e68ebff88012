/** Driving on from a journal of 100,000 facts: how long until the driver knows where it is, on top of Node's own start. */
import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { makePlace, median } from "./support.ts";

const ROUNDS = 7;

export function journalFacts(): object {
  const place = makePlace(1);
  const script = (name: string): string => join(import.meta.dirname, `../.cache/bench/bench/${name}.js`);
  execFileSync(process.execPath, [script("journal-make"), place.root], { stdio: ["ignore", "ignore", "inherit"] });
  const cache = join(place.root, "compiled");
  const bare: number[] = [];
  const whole: number[] = [];
  const inside: number[] = [];
  // Once before: the compile cache is filled, as it is for whoever has used pawl before.
  execFileSync(process.execPath, [script("journal-own"), place.root, cache]);
  for (let i = 0; i < ROUNDS; i += 1) {
    let began = performance.now();
    spawnSync(process.execPath, ["-e", "0"]);
    bare.push(performance.now() - began);
    began = performance.now();
    const out = execFileSync(process.execPath, [script("journal-own"), place.root, cache], { encoding: "utf8" });
    whole.push(performance.now() - began);
    inside.push(Number(out));
  }
  place.remove();
  return {
    onTopOfNodeMs: Math.round(median(whole) - median(bare)),
    readVerifyFoldMs: Math.round(median(inside)),
    bareNodeMs: Math.round(median(bare)),
  };
}
