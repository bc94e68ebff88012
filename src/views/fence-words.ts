/** What holds a run, in one line for people: from its specification alone, so that every view can say it. Pure. */
import type { FenceSpec } from "../spec.ts";
import { counted } from "./cli/format.ts";

const KINDS: Readonly<Record<Exclude<FenceSpec["kind"], "none">, string>> = {
  bwrap: "bwrap: own namespaces, a home of its own, writes only in the workspace",
  docker: "docker (untested): a container of its own, writes only in the workspace",
  seatbelt: "seatbelt (untested): writes only in the workspace, .git read-only",
};

/** `tense`: of a run that goes on, or of one that is over. */
export function fenceWords(fence: FenceSpec, { tense }: { tense: "now" | "then" }): string {
  if (fence.kind === "none")
    return `unfenced: the agent and the checks ${tense === "now" ? "run" : "ran"} with your rights`;
  return `fenced: ${KINDS[fence.kind]}, ${networkWords(fence)}`;
}

function networkWords({ network, hosts }: Pick<FenceSpec, "network" | "hosts">): string {
  if (network === "open") return "open network";
  return hosts.length === 0 ? "no network" : `network: ${counted(hosts.length, "host")}`;
}

export const HOW_TO_FENCE = "apt install bubblewrap socat; `pawl doctor --fence` tells more";
