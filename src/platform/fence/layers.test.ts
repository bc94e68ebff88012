/** What mounts layers, when it is signalled, held up or gone: no command ever finds other files than it was to have. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { removeFolder } from "../../compose/fence-scratch.ts";
import { shownOf } from "../../../test/support/processes.ts";
import { tempDir } from "../../../test/support/temp.ts";
import { bwrapFence, type Fence } from "../fence.ts";
import { allProcesses, processInfo } from "../process-table.ts";
import { runProcess } from "../process.ts";
import type { Inside } from "./bwrap.ts";
import { USUAL_LIMITS } from "./limits.ts";

let fence: Fence;
let root: string;
let keeper: number;
let n = 0;

const folder = (name: string): string => {
  const path = join(root, name);
  mkdirSync(path, { recursive: true });
  return path;
};
const children = (): number[] => allProcesses().flatMap(({ pid, ppid }) => (ppid === process.pid ? [pid] : []));

beforeAll(async () => {
  root = tempDir("layers");
  for (const name of ["one", "two"]) writeFileSync(join(folder(name), "which"), name);
  const before = new Set(children());
  const layers = { trial: folder("trial"), mounts: folder("mounts") };
  const opened = await bwrapFence({ run: "r-layers", places: [{ path: root, access: "write" }], layers });
  if (opened === undefined) throw new Error("bubblewrap does not work here: install it with scripts/install-system.sh");
  fence = opened;
  const found = children().find((pid) => !before.has(pid) && shownOf(pid).includes("room_for_layers"));
  if (found === undefined) throw new Error("nothing mounts layers");
  keeper = found;
});
afterAll(async () => {
  fence.close();
  await removeFolder(root);
});

async function seen(tree: string): Promise<string> {
  const place = { path: join(root, tree), access: "write", at: join(root, "at") } as const;
  const made = (): Inside => {
    const places = [{ ...place, layer: { over: [], folder: folder(`layer-${(n += 1)}`) } }];
    return { cwd: place.at, places, hidden: [], network: "none", limits: USUAL_LIMITS };
  };
  let output = "";
  const { startError } = await runProcess({
    command: "cat",
    args: ["which"],
    cwd: root,
    env: { PATH: "/usr/bin:/bin" },
    timeoutMs: 120_000,
    confine: (command, args) => fence.wrap(command, args, made()),
    onOutput: (chunk) => void (output += Buffer.from(chunk).toString()),
  });
  return startError?.message ?? output;
}

it("Ctrl-C in a terminal is not for it", () => {
  expect(processInfo(keeper)?.group).toBe(keeper);
});

it("an answer that comes too late is not taken for another's", async () => {
  process.kill(keeper, "SIGSTOP");
  expect(await seen("one")).toContain("no answer");
  process.kill(keeper, "SIGCONT");
  for (const tree of ["two", "one", "two"]) expect(await seen(tree)).toBe(tree);
});

it("one that has ended is not waited for, and nothing is started", async () => {
  process.kill(keeper, "SIGKILL");
  expect(await seen("one")).toContain("what mounts it has ended");
});
