/** As whoever it was started: a check that does its worst to the tree and its dependencies, and what the next one sees. */
import { createHash } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { judgedPlace } from "./judged-place.ts";

/** Everything about a folder that a check could have changed. */
function stateOf(root: string): string {
  const hash = createHash("sha256");
  const walk = (path: string): void => {
    const { mode, ino, mtimeMs, ctimeMs, uid, nlink } = lstatSync(path);
    hash.update(JSON.stringify([path, mode, ino, mtimeMs, ctimeMs, uid, nlink]));
    const stats = lstatSync(path);
    if (stats.isSymbolicLink()) hash.update(readlinkSync(path));
    else if (stats.isDirectory()) for (const name of readdirSync(path).toSorted()) walk(join(path, name));
    else hash.update(readFileSync(path));
  };
  walk(root);
  return hash.digest("hex");
}

const place = await judgedPlace({
  files: {
    ".gitignore": "node_modules/\n.venv/\n",
    "a.txt": "one\n",
    "src/f.js": "f\n",
    "src/g.js": "g\n",
    "deep/er/h.js": "h\n",
  },
  install(repo) {
    mkdirSync(join(repo, "node_modules/dep"), { recursive: true });
    writeFileSync(join(repo, "node_modules/dep/index.js"), "dep\n");
    writeFileSync(join(repo, "node_modules/dep/run.sh"), "#!/bin/sh\necho dep\n");
    chmodSync(join(repo, "node_modules/dep/run.sh"), 0o755);
    symlinkSync("dep", join(repo, "node_modules/link"));
  },
});
const WORST = `
set -e
echo evil > a.txt; echo evil >> src/f.js; rm -r src/g.js deep; mv src moved; chmod 000 moved/f.js; chmod 500 moved
echo new > new.txt; mkdir -p made/here; ln -s / made/out; ln a.txt hard
echo evil > node_modules/dep/index.js; chmod 777 node_modules/dep/run.sh; rm node_modules/link; mkdir node_modules/evil
mv node_modules/dep node_modules/other; touch -d 2001-01-01 node_modules .; mkdir node_modules/dep; chmod 000 node_modules/dep
test -e new.txt && test ! -e deep && test -e node_modules/other
`;
const SEEN = `find . -not -path './.git*' | sort; cat a.txt src/f.js node_modules/dep/index.js; node_modules/dep/run.sh; stat -c %a src/f.js`;
try {
  const [before] = [(await place.judge(SEEN)).output];
  const lower = () => [place.layout.verify, place.layout.dependencies].map(stateOf).join(" ");
  const untouched = lower();
  const worst = await place.judge(WORST);
  const isUnchanged = lower() === untouched;
  const after = (await place.judge(SEEN)).output;
  // Both write and wait for the other's file, which must not appear.
  const beside = await Promise.all(
    ["x", "y"].map(async (name) => {
      const other = name === "x" ? "y" : "x";
      return await place.judge(`echo 1 > ${name}; sleep 0.3; test ! -e ${other} && ls`);
    }),
  );
  place.write({ "a.txt": "two\n", "src/n.js": "n\n" });
  const tree = await place.snapshot();
  const next = await place.judge(`cat a.txt src/n.js node_modules/dep/index.js`, { tree });
  const back = (await place.judge(SEEN)).output;
  console.log(
    JSON.stringify({
      uid: process.getuid?.(),
      isolation: "evidence" in worst.verdict ? worst.verdict.evidence.isolation : "",
      worst: [worst.verdict.is, worst.output],
      isUnchanged,
      isSeenAgain: after === before && back === before,
      before,
      beside: beside.map(({ verdict }) => verdict.is),
      next: [next.verdict.is, next.output],
    }),
  );
} finally {
  await place.close();
}
