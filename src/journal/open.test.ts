/** The SQLite journal keeps the contract of the port. */
import { journalContract } from "../../test/contracts/journal.ts";
import { open } from "../../test/contracts/journal-sqlite.ts";

journalContract({ name: "sqlite", open, module: new URL("../../test/contracts/journal-sqlite.ts", import.meta.url) });
