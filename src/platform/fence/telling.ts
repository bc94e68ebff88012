/** How it is known of a fenced command that it never began: then its end is nobody's verdict. */
import { closeSync, readSync } from "node:fs";
import { NOT_STARTED, SET_UP_FAILED } from "./copy.ts";
import type { Held } from "./held.ts";

export interface Telling extends Required<Pick<Held, "unfit">> {
  close?: () => void;
}

/** What bubblewrap writes only when the command had begun. */
const BEGUN = '"exit-code"';
const MAX_STATUS_BYTES = 4_096;

/** Of one that bubblewrap starts. `status`: a file, open here, that it tells how the command ended. */
export function toldIn(status: number): Telling {
  return {
    unfit({ exitCode }) {
      // Who was killed could not tell.
      if (exitCode === null) return undefined;
      const bytes = Buffer.alloc(MAX_STATUS_BYTES);
      const said = bytes.toString("utf8", 0, readSync(status, bytes, 0, MAX_STATUS_BYTES, 0));
      return said.includes(BEGUN) ? undefined : "final";
    },
    close: () => closeSync(status),
  };
}

interface ByCopy {
  /** A process that waited was to be it. */
  isTaken: boolean;
  /** What could not be done so once is not tried so again. */
  distrust: { pool: () => void; mould: () => void };
}

/** Of a copy, which ends in a way of its own. */
export function toldBy({ isTaken, distrust }: ByCopy): Telling {
  return {
    unfit({ signalCode, isTold }) {
      if (signalCode === NOT_STARTED) return "final";
      // One that waited was ended by somebody before it could hear what to be.
      if (signalCode !== SET_UP_FAILED) return isTold ? undefined : "again";
      if (isTaken && !isTold) distrust.pool();
      else distrust.mould();
      return "again";
    },
  };
}
