/** Takes over a long run as a driver does: owns it, verifies and folds every fact, asks what is wanted. Prints ms. */
import { openDriverState } from "../src/compose.ts";
import { fold } from "../src/loop/fold.ts";
import { wanted } from "../src/loop/wanted.ts";
import { runRecipe } from "../src/recipes/run.ts";
import { existingPlace, specFor } from "./support.ts";

const place = existingPlace(process.argv[2] ?? "");
const began = performance.now();
const state = await openDriverState(place.env);
const owned = await state.journal.own(specFor(place, 1_000_000).run, { pid: 1, startedAt: "0", boot: "b", host: "h" });
const folded = fold(owned.facts);
const { actions } = wanted(runRecipe, folded, { wall: folded.at, elapsed: folded.elapsed });
if (actions.size === 0) throw new Error("nothing is wanted");
console.log(performance.now() - began);
await owned.release();
state.close();
