/** Copies of a sandbox that was made once, in a real fence: what is inside must not be able to tell, nor two of them meet. */
import { randomUUID } from "node:crypto";
import { expect, describe, it } from "vitest";
import { taggedProcesses } from "../../../test/support/processes.ts";
import { isRoot, programAs, WHO } from "../../../test/support/program-as.ts";
import { waitFor } from "../../../test/support/temp.ts";
import { parted } from "./mould.ts";
import type { Place } from "./places.ts";

interface Told {
  uid: number;
  ways: string[];
  looks: { name: string; bwrap: string; copy: string }[];
  [name: string]: unknown;
}

describe.each(WHO)("as %s", (who) => {
  it("a copy is what bubblewrap makes, and alone: nothing of another, before it or beside it, is in it", () => {
    const { stdout, stderr } = programAs(who, "mould-program.ts");
    expect(stderr).toBe("");
    const { uid, ways, looks, ...told } = JSON.parse(stdout) as Told;
    const isWhole = isRoot && who === "self";
    expect(uid === 0).toBe(isWhole);
    // The first makes the mould, what follows is a copy.
    expect(ways).toEqual(["bwrap", "copy"]);
    expect(looks.map(({ name }) => name)).toEqual(["no network", "the machine's network", "no limits on the whole"]);
    for (const { bwrap, copy } of looks) expect(copy).toBe(bwrap);
    expect(looks[0]?.copy).toMatch(/^NoNewPrivs:\t1$[\s\S]*^Seccomp:\t2$/m);
    expect(told).toEqual({
      codes: [0, 7, 128 + 15, 128 + 9],
      missing: "pawl-fence: no-such-program: No such file or directory\n",
      nowhere: "pawl-fence: /nowhere: No such file or directory\n",
      // Memory, queues and ports of one that has ended are gone; files are where they were written.
      left: "port free\nshared file\n",
      beside: "none of the other's\n",
      hidden: ["", "saved anew: ", "", "", "gone: ", "begun\n", "begun\n"],
      closed: "0\n1\n2\n3\n",
      // Neither what is outside nor what leads there.
      first:
        "CapBnd:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\ncat: /proc/1/environ: Permission denied\nls: cannot open directory '/proc/1/fd': Permission denied\n",
      planted: ["", false],
      // Neither pass nor fail: the command never began. It is tried in the other way, and so are those after it.
      unfit: ["copy", expect.stringContaining("no layer can be put over"), "bwrap"],
      // Where no control group holds the whole, bubblewrap starts a program that sets the limits, which tells by a code.
      unstarted: [127, 126, "FENCE"].flatMap((code) => [
        ["bwrap", isWhole ? "FENCE" : code],
        ["copy", "FENCE"],
      ]),
      followed: "old\n",
      shared: "in memory\n",
      // A folder of its places was removed and made again.
      anew: ["bwrap", "new\n"],
      linked: "has become a link",
      interrupted: [true, 0],
      atTheEnd: 0,
    });
  });

  it("nothing of a copy outlives a killed driver", async () => {
    const run = `r-mould-${randomUUID()}`;
    expect(programAs(who, "mould-program.ts", run, "die").signal).toBe("SIGKILL");
    await waitFor(() => taggedProcesses("PAWL_RUN", run).length === 0, { what: "the end of all copies" });
  });
});

describe("what is a command's own", () => {
  const read = (path: string, at?: string): Place => ({ path, access: "read", ...(at === undefined ? {} : { at }) });
  const write = (path: string, at?: string): Place => ({ ...read(path, at), access: "write" });
  const of = (places: Place[]) => {
    const { early = [], late = [], folders } = parted({ places }) ?? {};
    const names = (some: Place[]): string[] => some.map(({ path, at = path }) => at);
    return folders && { early: names(early), late: names(late), folders };
  };

  it("is what it writes, and what lies on that or on memory", () => {
    expect(
      of([
        write("/usr", "/tmp"),
        read("/etc"),
        read("/usr", "/run/s"),
        read("/usr", "/dev/shm/s"),
        write("/usr", "/w"),
        read("/usr", "/w/in"),
      ]),
    ).toEqual({
      early: ["/etc"],
      late: ["/tmp", "/run/s", "/dev/shm/s", "/w", "/w/in"],
      folders: ["/w"],
    });
  });

  it("is a layer, whatever is below it", () => {
    const layer = { over: [], folder: "/f" };
    expect(of([{ ...read("/not-there", "/w"), layer }])).toEqual({ early: [], late: ["/w"], folders: ["/w"] });
  });

  it("cannot be told where what is only read lies over it, or where a file has no folder to be in", () => {
    expect(of([write("/usr", "/w/in"), read("/usr", "/w")])).toBeUndefined();
    expect(of([read("/usr", "/var")])).toBeUndefined();
    expect(of([write("/etc/passwd", "/file")])).toBeUndefined();
  });
});
