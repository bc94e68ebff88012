/** Where the work goes. */
import { z } from "zod";
import { bytes, count } from "../units.ts";
import { choice, of, text, yes, type Setting } from "./kinds.ts";

export const GIT_SETTINGS = {
  commit: of({
    schema: choice(["branch", "current", "none"]),
    flag: null,
    group: "git",
    about: "commit on a branch of its own, the current one, or not at all",
  }),
  branch: of({ schema: text, argument: "NAME", group: "git", about: "the run's branch (pawl/<words of the goal>)" }),
  "allow-dirty": of({
    schema: yes,
    group: "git",
    about: "start with uncommitted changes; they become the first commit",
  }),
  "at-end": of({
    schema: choice(["best", "last"]),
    argument: "STATE",
    group: "git",
    about: "what a run leaves that ends without verified: its best state, or its last",
  }),
  "max-snapshot-size": of({
    schema: bytes,
    argument: "SIZE",
    flag: null,
    group: "git",
    about: "new bytes in one iteration before a person is asked",
  }),
  "max-snapshot-files": of({
    schema: count,
    argument: "N",
    flag: null,
    group: "git",
    about: "new files in one iteration before a person is asked",
  }),

  "branch-prefix": of({
    schema: z.string("must be text").trim().max(100, "must have at most 100 characters"),
    argument: "PREFIX",
    flag: null,
    group: "git",
    about: 'of the run\'s branch, before the words of the goal; "" for none',
  }),
  "commit-title": of({
    schema: text,
    argument: "TEXT",
    flag: null,
    group: "git",
    about: "first line of commits, with {{iteration}}, {{goal}}, {{verdict}}, {{run}}",
  }),
} as const satisfies Readonly<Record<string, Setting>>;
