/**
 * Another process on the same journal, for the contract suite: `node journal-program.ts MODULE DIR VERB RUN [COUNT]`.
 * It prints one word a line for each thing it has finished.
 */
import { writeSync } from "node:fs";
import { iteration, NOW, ownerOf } from "./journal-samples.ts";
import type { OpenForContract } from "./journal.ts";

const [module = "", dir = "", verb = "", run = "", count = "Infinity"] = process.argv.slice(2);
const { open } = (await import(module)) as { open: OpenForContract };
const handle = open(dir);
/** At once, so that what was said is true even if this process is killed in the next moment. */
const say = (word: string | number) => writeSync(1, `${word}\n`);

switch (verb) {
  case "append": {
    const owned = await handle.journal.own(run, ownerOf(process.pid));
    for (let n = 0; n < Number(count); n += 1) {
      const facts = await owned.append([iteration(n), iteration(n, "a second fact of the same append")], NOW);
      for (const { seq } of facts) say(seq);
    }
    await owned.release();
    break;
  }
  case "own": {
    say("ready");
    await new Promise((resolve) => process.stdin.once("data", resolve));
    try {
      await handle.journal.own(run, ownerOf(process.pid));
      say("won");
    } catch (error) {
      say((error as Error).name);
    }
    // Keeps the lease while the others try.
    await new Promise((resolve) => process.stdin.once("end", resolve));
    break;
  }
  case "put": {
    const { id } = await handle.inbox.put(
      run,
      { kind: "say", text: "look at the parser", when: "now" },
      { source: "test" },
    );
    say(id);
    break;
  }
  case "trace": {
    for (let n = 0; n < Number(count); n += 1) handle.trace.write(run, { at: n, turn: 1, kind: "text", data: { n } });
    await handle.trace.flush();
    break;
  }
  default:
    throw new Error(`no verb ${verb}`);
}
handle.close();
process.exit();
