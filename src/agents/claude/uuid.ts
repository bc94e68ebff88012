/** Messages said into a turn carry its first eight digits, so that a transcript shows whose they are. */
import { randomUUID } from "node:crypto";

const SHARED_CHARS = 8;

export function uuidWithin(turn: string): string {
  return turn.slice(0, SHARED_CHARS) + randomUUID().slice(SHARED_CHARS);
}

export function belongsTo(uuid: string, turn: string): boolean {
  return uuid.slice(0, SHARED_CHARS) === turn.slice(0, SHARED_CHARS);
}
