/** For every test file, as it ends. */
import { afterAll } from "vitest";
import { cleanUp } from "./file-end.ts";

/** A campaign leaves thousands of folders. */
const CLEANING_LIMIT_MS = 600_000;

afterAll(cleanUp, CLEANING_LIMIT_MS);
