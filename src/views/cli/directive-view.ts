/** The directives of a run with their receipts, from the journal and the inbox: for `status` and `steer --list`. Pure. */
import type { Directive } from "../../events.ts";
import type { RunState } from "../../loop/state.ts";
import type { Receipt } from "../../ports.ts";
import { directiveWords, type ReceiptState } from "../directive-words.ts";
import { oneLine } from "../plain.ts";

const MAX_SHOWN_DIRECTIVES = 10;
const MAX_CELL_CHARS = 60;

export interface DirectiveView {
  id: string;
  directive: Directive;
  source: string;
  receipt: ReceiptState;
  /** What was done about it, once delivered. */
  how: string | null;
}

export interface DirectiveRequest {
  /** In the inbox, perhaps not in the journal yet. */
  queued: readonly Receipt[];
  /** Every one that is under way, and the newest of the others; or all that are kept. */
  all: boolean;
}

export function directiveViews(state: RunState, { queued, all: wanted }: DirectiveRequest): DirectiveView[] {
  const taken = [...state.directives.values()].map(
    ({ id, directive, source, delivered, acknowledged }): DirectiveView => ({
      id,
      directive,
      source,
      receipt: acknowledged === true ? "acknowledged" : delivered === undefined ? "queued" : "delivered",
      how: delivered?.how ?? null,
    }),
  );
  const waiting = queued
    .filter(({ id }) => !state.directives.has(id))
    .map(({ id, directive, source }): DirectiveView => ({ id, directive, source, receipt: "queued", how: null }));
  const all = [...taken, ...waiting];
  if (wanted) return all;
  const open = all.filter(({ receipt }) => receipt === "queued").length;
  return all.filter((view, at) => view.receipt === "queued" || at >= all.length - Math.max(open, MAX_SHOWN_DIRECTIVES));
}

export function directiveCells({ id, receipt, directive, how }: DirectiveView): string[] {
  return [id, receipt, directiveWords(directive), how === null ? "" : oneLine(how, { max: MAX_CELL_CHARS })];
}
