/** The words of the kinds that cannot be run here. */
import { expect, it } from "vitest";
import type { Inside } from "./bwrap.ts";
import { dockerWords } from "./docker.ts";
import { USUAL_LIMITS } from "./limits.ts";
import { seatbeltProfile, seatbeltWords } from "./seatbelt.ts";

const INSIDE: Inside = {
  cwd: "/w",
  places: [
    { path: "/s/tmp", access: "write", at: "/tmp" },
    { path: "/tools", access: "read" },
    { path: "/w", access: "write" },
    { path: "/s/git", access: "write", at: "/w/.git" },
  ],
  hidden: ["/tools/credentials"],
  network: "none",
  limits: USUAL_LIMITS,
  variables: ["PATH", "HOME"],
};
const ABOUT = {
  run: "r-1",
  system: { places: [{ path: "/usr", access: "read" as const }], links: [{ target: "usr/bin", at: "/bin" }] },
  target: (path: string) => `/usr${path}`,
  user: { uid: 7, gid: 8 },
  prlimit: "/usr/bin/prlimit",
};

it("makes a container that has nothing but the places, no network, no rights and its limits", () => {
  const words = dockerWords(INSIDE, ABOUT);
  const after = (name: string): string[] => words.flatMap((word, at) => (word === name ? [words[at + 1] ?? ""] : []));
  expect(after("--mount")).toEqual([
    "type=bind,source=/s/tmp,target=/tmp",
    expect.stringMatching(/^type=tmpfs,.*target=\/var\/tmp$/),
    expect.stringMatching(/^type=tmpfs,.*target=\/run$/),
    "type=bind,source=/usr,readonly,target=/usr",
    "type=bind,source=/usr/bin,readonly,target=/bin",
    "type=bind,source=/tools,readonly,target=/tools",
    "type=bind,source=/w,target=/w",
    "type=bind,source=/s/git,target=/w/.git",
    "type=bind,source=/dev/null,readonly,target=/tools/credentials",
  ]);
  expect([after("--network"), after("--cap-drop"), after("--user"), after("--label")]).toEqual([
    ["none"],
    ["ALL"],
    ["7:8"],
    ["pawl.run=r-1"],
  ]);
  expect(after("--env")).toEqual(["PATH", "HOME"]);
  expect(words).toContain("--read-only");
  expect(words.slice(words.indexOf("--workdir"))).toEqual(
    expect.arrayContaining(["--workdir", "/w", "pawl-fence:empty", "/usr/bin/prlimit"]),
  );
});

it("quotes what docker would take for the end of a field, and opens the network only when told", () => {
  const words = dockerWords({ ...INSIDE, places: [{ path: '/a,"b', access: "write" }], network: "host" }, ABOUT);
  expect(words).toContain('type=bind,"source=/a,""b","target=/a,""b"');
  expect(words[words.indexOf("--network") + 1]).toBe("host");
});

it("writes a profile in which later rules close what earlier ones opened", () => {
  const profile = seatbeltProfile(INSIDE).split("\n");
  expect(profile.slice(0, 2)).toEqual(["(version 1)", "(deny default)"]);
  const at = (line: string): number => profile.indexOf(line);
  const opened = at('(allow file-read* file-write* (subpath "/w"))');
  expect(opened).toBeGreaterThan(0);
  expect(at('(deny file-write* (subpath "/w/.git"))')).toBeGreaterThan(opened);
  expect(at('(deny file-read* file-write* (literal "/tools/credentials"))')).toBeGreaterThan(opened);
  expect(profile.some((line) => line === "(allow network*)")).toBe(false);
  expect(seatbeltProfile({ ...INSIDE, network: "host" })).toContain("(allow network*)");
  expect(seatbeltProfile({ ...INSIDE, hidden: ['/a"b'] })).toContain('(literal "/a\\"b")');
});

it("starts in the folder itself where a place would lie over another, with its own temporary files", () => {
  const check = { ...INSIDE, places: [{ path: "/s/verify", access: "write" as const, at: "/w" }, ...INSIDE.places] };
  const words = seatbeltWords(check);
  expect(words[0]).toBe("-p");
  expect(words.slice(2, 4)).toEqual(["/bin/sh", "-c"]);
  expect(words.slice(-5)).toEqual(["pawl-fence", "/s/verify", "2048", String((4 * 1024 ** 3) / 512), "/s/tmp"]);
});
