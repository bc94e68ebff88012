/** Who may use verify trees at the same time; all others wait, and come in the order in which they asked. */
import type { VerifyTree } from "../ports.ts";
import type { Hands } from "./hands.ts";

/** `reading`: with others who only read the same tree; `beside`: with others who may, each with a tree of its own. */
export type Company = "alone" | "reading" | "beside";

interface Visit {
  tree: string;
  how: Company;
  enter: () => void;
}

/** One that is read by several; the last of them gives it back. */
interface Shared {
  opened: Promise<VerifyTree>;
  readers: number;
}

export function makeVerifyRoom(
  open: (tree: string) => Promise<VerifyTree>,
  { atOnce }: { atOnce: number },
): Hands["verifying"] {
  const waiting: Visit[] = [];
  const inside = new Set<Visit>();
  let shared: Shared | undefined;

  const mayEnter = ({ how, tree }: Visit): boolean => {
    if (inside.size === 0) return true;
    const others = [...inside];
    switch (how) {
      case "alone":
        return false;
      case "reading":
        return others.every((other) => other.how === "reading" && other.tree === tree);
      case "beside":
        return inside.size < atOnce && others.every((other) => other.how === "beside");
    }
  };
  const letIn = (): void => {
    for (let next = waiting[0]; next !== undefined && mayEnter(next); next = waiting[0]) {
      waiting.shift();
      inside.add(next);
      next.enter();
    }
  };
  const use = async <T>({ tree, how }: Visit, work: (verify: VerifyTree) => Promise<T>): Promise<T> => {
    const mine: Shared = (how === "reading" ? shared : undefined) ?? { opened: open(tree), readers: 0 };
    if (how === "reading") shared = mine;
    mine.readers += 1;
    try {
      return await work(await mine.opened);
    } finally {
      mine.readers -= 1;
      if (mine.readers === 0) {
        if (shared === mine) shared = undefined;
        await (await mine.opened).release();
      }
    }
  };
  return async (tree, work, how) => {
    const { promise: entered, resolve: enter } = Promise.withResolvers<void>();
    const visit: Visit = { tree, how, enter };
    waiting.push(visit);
    letIn();
    await entered;
    try {
      return await use(visit, work);
    } finally {
      inside.delete(visit);
      letIn();
    }
  };
}
