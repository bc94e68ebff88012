/** What a run that goes on takes its settings from: what was frozen, and flags; never a file the agent can write. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { byIteration, CLAIM, cliPlace } from "../support/cli.ts";

it.each(["trust-promise: true\n", "this is: {no yaml\n"])(
  "a pawl.yaml written by the agent says nothing about the run when it goes on: %j",
  async (content) => {
    const write = (name: string, text: string) => ({
      tools: [{ name: "Write", input: { file_path: name, content: text } }],
    });
    const script = byIteration({
      1: [write("pawl.yaml", content), { text: "Begun." }],
      2: [write("a.txt", "a\n"), { text: CLAIM }],
      3: [write("b.txt", "b\n"), { text: CLAIM }],
    });
    const place = await cliPlace({ script });
    // Else the file were put back, and nothing of it could be read later.
    const first = await place.pawl("run", "do it", "--unprotect", "**");
    expect([first.code, first.stdout]).toEqual([1, "claimed pawl/do-it\n"]);
    expect(readFileSync(join(place.repository.path, "pawl.yaml"), "utf8")).toBe(content);
    const again = await place.pawl("resume");
    expect([again.code, again.stdout]).toEqual([1, "claimed pawl/do-it\n"]);
  },
);
