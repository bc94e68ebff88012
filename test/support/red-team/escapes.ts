/** All escapes, in an order in which the plants of one are there while the next are tried. */
import type { Escape } from "./escape.ts";
import { READING, WRITING } from "./files.ts";
import { KERNEL } from "./kernel.ts";
import { NETWORK } from "./network.ts";

export const ESCAPES: readonly Escape[] = [...WRITING, ...READING, ...NETWORK, ...KERNEL];
