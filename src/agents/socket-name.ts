/** What a session's socket to its model is called: a lane may have two sessions at once, one that works and one that reviews. */
import { randomUUID } from "node:crypto";

/** A socket's path may have 107 bytes. */
const RANDOM_CHARS = 8;

export const socketName = (agent: string): string => `${agent}-${randomUUID().slice(0, RANDOM_CHARS)}`;
