/** Makes a journal of one short run below the given root, for measuring views. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { driveHere, existingPlace } from "./support.ts";

const place = existingPlace(process.argv[2] ?? "");
await driveHere(place, 3, ({ n, workspace }) => {
  writeFileSync(join(workspace, `work-${n}.txt`), `${n}\n`);
  return { text: "not yet" };
});
