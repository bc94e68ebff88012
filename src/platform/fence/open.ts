/** A fence of a kind. */
import { bwrapFence, type Fence, type FenceKind, type LayerFolders } from "../fence.ts";
import { dockerFence } from "./docker.ts";
import type { Place } from "./places.ts";
import { seatbeltFence } from "./seatbelt.ts";

interface Opening {
  run: string;
  /** Everything any process of the run will be given. */
  places: readonly Place[];
  layers?: LayerFolders;
}

/** undefined when that kind does not work here. */
export async function openFence(kind: Exclude<FenceKind, "none">, opening: Opening): Promise<Fence | undefined> {
  switch (kind) {
    case "bwrap":
      return process.platform === "linux" ? await bwrapFence(opening) : undefined;
    case "docker":
      return dockerFence(opening);
    case "seatbelt":
      return seatbeltFence();
  }
}
