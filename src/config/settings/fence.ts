/** What the agent, the checks and generated code can reach. */
import { bytes, count } from "../units.ts";
import { choice, names, of, type Setting } from "./kinds.ts";

export const FENCE_SETTINGS = {
  fence: of({
    schema: choice(["auto", "bwrap", "docker", "seatbelt", "none"]),
    argument: "KIND",
    group: "fence",
    about: "what holds the agent and the checks; auto takes the strongest there is",
  }),
  network: of({
    schema: choice(["off", "registries", "open"]),
    argument: "HOW",
    group: "fence",
    about: "beside the model: off, package registries, or open",
  }),
  "allow-host": of({
    schema: names,
    argument: "HOST",
    repeated: true,
    group: "fence",
    about: "also reachable from inside, as name or name:port (may be repeated)",
  }),
  "max-memory": of({
    schema: bytes,
    argument: "SIZE",
    flag: null,
    group: "fence",
    about: "of all processes inside together",
  }),
  "max-processes": of({ schema: count, argument: "N", flag: null, group: "fence", about: "inside at one time" }),
  "max-file-size": of({
    schema: bytes,
    argument: "SIZE",
    flag: null,
    group: "fence",
    about: "of one file written inside",
  }),
  "max-disk": of({
    schema: bytes,
    argument: "SIZE",
    flag: null,
    group: "fence",
    about: "that the agent or a check may add to the disk",
  }),
  "max-output": of({ schema: bytes, argument: "SIZE", flag: null, group: "fence", about: "that a check may print" }),
} as const satisfies Readonly<Record<string, Setting>>;
