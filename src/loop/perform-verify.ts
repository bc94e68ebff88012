/** The one verify tree, used in turn: whoever runs commands in it is alone, those who only read it come in together. */
import type { VerifyTree } from "../ports.ts";
import type { Hands } from "./hands.ts";

interface Visit {
  tree: string;
  opened: Promise<VerifyTree>;
  visitors: number;
}

export function makeVerifyRoom(open: (tree: string) => Promise<VerifyTree>): Hands["verifying"] {
  let last: Promise<unknown> = Promise.resolve();
  let shared: Visit | undefined;

  /** The last visitor gives the tree back, and lets the next one in. */
  const visit = async <T>(mine: Visit, work: (verify: VerifyTree) => Promise<T>): Promise<T> => {
    try {
      return await work(await mine.opened);
    } finally {
      mine.visitors -= 1;
      if (mine.visitors === 0) {
        if (shared === mine) shared = undefined;
        await (await mine.opened).release();
      }
    }
  };
  return (tree, work, { shared: mayShare } = { shared: false }) => {
    if (mayShare && shared?.tree === tree) {
      shared.visitors += 1;
      const done = visit(shared, work);
      last = Promise.allSettled([last, done]);
      return done;
    }
    const mine: Visit = { tree, opened: last.then(() => open(tree)), visitors: 1 };
    shared = mayShare ? mine : undefined;
    const done = visit(mine, work);
    last = done.catch(() => undefined);
    return done;
  };
}
