/** For every test file, as it ends. */
import { afterAll } from "vitest";
import { cleanUp } from "./file-end.ts";

afterAll(cleanUp);
