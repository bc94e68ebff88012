/** pawl's own files that are read or started as files: they lie elsewhere once everything is built (scripts/build.ts). */
import { basename } from "node:path";

/** Sources, each in its folder; or all parts of the build side by side, with what is not code where it was. */
const ROOT = new URL(basename(import.meta.dirname) === "platform" ? "../" : "./", import.meta.url);
const ENDING = import.meta.url.slice(import.meta.url.lastIndexOf("."));

/** By its path below the sources. */
export const ownFile = (path: string): URL => new URL(path, ROOT);

/** A program of its own, by its path below the sources without the ending. */
export const ownModule = (path: string): URL => ownFile(`${path}${ENDING}`);
