/**
 * Takes over a long run as a driver does: owns it, verifies and folds every fact, asks what is wanted. Prints ms. With the
 * compile cache and the flags of `pawl resume`, and only what a driver loads before it knows where it is.
 */
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { leanStart } from "../src/platform/lean-start.ts";

const began = performance.now();
const [root = "", cache = ""] = process.argv.slice(2);
enableCompileCache(cache);
leanStart();
const [{ openDriverState }, { apply }, { wanted }, { runRecipe }] = await Promise.all([
  import("../src/compose.ts"),
  import("../src/loop/fold.ts"),
  import("../src/loop/wanted.ts"),
  import("../src/recipes/run.ts"),
]);
const state = await openDriverState({ ...process.env, PAWL_HOME: join(root, "state") });
const owner = { pid: 1, startedAt: "0", boot: "b", host: "h" };
let folded: ReturnType<typeof apply> | undefined;
const [run] = await state.journal.runs();
const owned = await state.journal.own(run?.run ?? "", owner, (fact) => (folded = apply(folded, fact)));
if (folded === undefined) throw new Error("no facts");
const { actions } = wanted(runRecipe, folded, { wall: folded.at, elapsed: folded.elapsed });
if (actions.size === 0) throw new Error("nothing is wanted");
console.log(performance.now() - began);
await owned.release();
state.close();
