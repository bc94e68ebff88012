/** Takes over a long run as a driver does: owns it, verifies and folds every fact, asks what is wanted. Prints ms. */
import { openDriverState } from "../src/compose.ts";
import { apply } from "../src/loop/fold.ts";
import type { RunState } from "../src/loop/state.ts";
import { wanted } from "../src/loop/wanted.ts";
import { runRecipe } from "../src/recipes/run.ts";
import { existingPlace, specFor } from "./support.ts";

const place = existingPlace(process.argv[2] ?? "");
const began = performance.now();
const state = await openDriverState(place.env);
const owner = { pid: 1, startedAt: "0", boot: "b", host: "h" };
let folded: RunState | undefined;
const owned = await state.journal.own(specFor(place, 1_000_000).run, owner, (fact) => (folded = apply(folded, fact)));
if (folded === undefined) throw new Error("no facts");
const { actions } = wanted(runRecipe, folded, { wall: folded.at, elapsed: folded.elapsed });
if (actions.size === 0) throw new Error("nothing is wanted");
console.log(performance.now() - began);
await owned.release();
state.close();
