import { availableParallelism } from "node:os";
import { expect, it } from "vitest";
import type { RunSpec } from "../spec.ts";
import { plainSpec } from "../../test/support/spec.ts";
import { checksAtOnce } from "./checks.ts";

const { fence } = plainSpec("/r");
const layers = { show: () => undefined };
const apart: RunSpec["fence"] = { ...fence, kind: "bwrap", network: "off", hosts: [] };

it("checks run at the same time where they cannot meet: as many as there are cores, at most four", () => {
  expect(checksAtOnce({ fence: apart }, { layers })).toBe(Math.min(4, availableParallelism()));
});

it.each<[string, Partial<RunSpec["fence"]>, typeof layers | undefined]>([
  ["one folder for all", {}, undefined],
  ["the machine's own network", { network: "open" }, layers],
  ["a host that all can reach, such as a database", { hosts: ["localhost:5432"] }, layers],
])("one at a time where they could meet: %s", (_, over, shown) => {
  expect(checksAtOnce({ fence: { ...apart, ...over } }, { layers: shown })).toBe(1);
});
