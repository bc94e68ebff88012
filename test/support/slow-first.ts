/** The longest files first, so that none of them is left alone at the end. */
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** By how long they take, from `npm test` on two cores; on a fresh machine nobody has measured yet. */
const SLOW = [
  "kill",
  "faults",
  "cheats",
  "run",
  "honest",
  "places",
  "verify",
  "start",
  "claims",
  "tasks",
  "eight-runs",
];
const place = ({ moduleId }: TestSpecification): number => {
  const at = SLOW.findIndex((name) => moduleId.endsWith(`/e2e/${name}.test.ts`));
  return at === -1 ? SLOW.length : at;
};

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((one, other) => place(one) - place(other));
  }
}
