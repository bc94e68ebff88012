/** What `pawl verify` says and exits with. Pure. */
import { EXIT } from "../../../errors.ts";
import { verdictWords } from "../../fact-words.ts";
import { oneLine } from "../../plain.ts";
import type { Finding } from "./findings.ts";
import type { Record } from "./record.ts";
import type { Repeated } from "./repeat.ts";
import { counted } from "../format.ts";

const MAX_CHARS = 300;
const MARK_CHARS = 10;
const NAME_CHARS = 12;

export type Answer = "same" | "differs" | "unjudged";

/** One difference outweighs everything; then what could not be judged. */
export function answerTo(
  findings: readonly Finding[],
  repeated: readonly Repeated[],
  record: Record | undefined,
): Answer {
  const differs = findings.some(({ is }) => is === "differs") || repeated.some(({ is }) => is === "different");
  if (differs) return "differs";
  const unknown = findings.some(({ is }) => is === "unknown");
  const unjudged = repeated.some(({ is, check }) => is === "unjudged" && check.required);
  const nothing = record !== undefined && !repeated.some(({ is }) => is === "same");
  return unknown || unjudged || nothing ? "unjudged" : "same";
}

export const exitOf = (answer: Answer): number =>
  ({ same: EXIT.ok, differs: EXIT.unverified, unjudged: EXIT.human })[answer];

const line = (mark: string, name: string, says: string): string =>
  `${mark.padEnd(MARK_CHARS)}${name.padEnd(NAME_CHARS)} ${oneLine(says, { max: MAX_CHARS })}`;

const FINDING_MARK: Readonly<{ [K in Finding["is"]]: string }> = {
  same: "ok",
  differs: "DIFFERS",
  unknown: "unknown",
  note: "note",
};

export const findingText = ({ is, name, says }: Finding): string => line(FINDING_MARK[is], name, says);

const REPEATED_MARK: Readonly<{ [K in Repeated["is"]]: string }> = {
  same: "ok",
  different: "DIFFERS",
  unjudged: "unknown",
  "left-out": "left out",
};

export function repeatedText(repeated: Repeated): string {
  const { is, check, verdict, now, says } = repeated;
  const words =
    is === "same" && now !== undefined
      ? `${verdictWords(now)}, as in iteration ${repeated.iteration}`
      : is === "different"
        ? (says[0] ?? "")
        : `${verdict.is} then; ${says[0] ?? ""}`;
  const more = is === "different" ? says.slice(1).map((text) => line("", "", text)) : [];
  return [line(REPEATED_MARK[is], oneLine(check.name, { max: MAX_CHARS }), words), ...more].join("\n");
}

export function answerText(answer: Answer, repeated: readonly Repeated[]): string {
  const same = repeated.filter(({ is }) => is === "same").length;
  switch (answer) {
    case "same":
      return `everything is as recorded (${same} of ${counted(repeated.length, "verdict")} repeated)`;
    case "differs":
      return "not as recorded: see what differs above";
    case "unjudged":
      return repeated.length === 0
        ? "no verdict on this tree is on record: there is nothing to repeat"
        : "nothing differs, but not everything could be judged again";
  }
}
