/** How the trees that are judged get what they need beside the files: dependencies, a repository. */
import { duration } from "../units.ts";
import { names, of, text, yes, type Setting } from "./kinds.ts";

export const SETUP_SETTINGS = {
  setup: of({
    schema: text,
    argument: "COMMAND",
    group: "goal",
    about: "makes the dependencies of what is judged, inside the fence, when its lockfiles change",
  }),
  "setup-keys": of({
    schema: names,
    argument: "FILES",
    flag: null,
    group: "goal",
    about: "files (names or globs) whose content decides when --setup runs again; lockfiles and manifests",
  }),
  "setup-timeout": of({ schema: duration, argument: "TIME", flag: null, group: "goal", about: "of one setup" }),
  "check-git": of({
    schema: yes,
    flag: null,
    group: "goal",
    about: "checks find a throw-away repository with the judged tree as its one commit",
  }),
} as const satisfies Readonly<Record<string, Setting>>;
