/**
 * One SQLite file: opened on first use, private to the user, migrated, its statements cached and its errors said in
 * words. Everything here is synchronous, so a transaction is never interleaved with another of the same handle.
 */
import { closeSync, existsSync, openSync } from "node:fs";
import { basename, dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { makePrivateDir, syncDir } from "../platform/files.ts";
import { TerminalError } from "../errors.ts";
import { explain, isBusy } from "./trouble.ts";

/** How long another program may hold the file before we give up. */
const BUSY_TIMEOUT_MS = 10_000;
const WAL_RETRY_MS = 20;

export interface Database {
  /** Prepared once per text; rows come as arrays. */
  statement(sql: string): StatementSync;
  /** All reads inside see one state of the file. */
  read<T>(work: () => T): T;
  /** All or nothing, and durable as far as `durability` says when it returns. */
  write<T>(work: () => T): T;
  /** A number that differs after any commit, by whichever process. */
  version(): number;
}

export interface Store {
  /** undefined when there is no file: looking never creates one. */
  existing(): Database | undefined;
  /** Creates the file when there is none. */
  always(): Database;
  /** Calls back after each commit made through this store; returns how to stop. */
  onCommit(listener: () => void): () => void;
  /** Gives pages that nothing needs any more back to the disk; others may read and write meanwhile, and wait. */
  compact(): void;
  close(): void;
}

export interface StoreOptions {
  /** `every-commit` survives a power loss; `eventually` only a crash of the process. */
  durability: "every-commit" | "eventually";
  /** SQL that takes version n to n + 1, by n. */
  migrations: readonly string[];
}

export function makeStore(path: string, options: StoreOptions): Store {
  const listeners = new Set<() => void>();
  let opened: { raw: DatabaseSync; database: Database } | undefined;
  let isClosed = false;
  const open = (): Database => {
    if (isClosed) throw new TerminalError(`${basename(path)} was closed`, { hint: "open pawl's state again" });
    opened ??= openDatabase(path, { ...options, committed: () => listeners.forEach((listener) => listener()) });
    return opened.database;
  };
  return {
    existing: () => (opened !== undefined || existsSync(path) ? open() : undefined),
    always() {
      if (opened === undefined && !existsSync(path)) createFile(path);
      return open();
    },
    onCommit(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    compact() {
      if (this.existing() === undefined) return;
      try {
        opened?.raw.exec("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
      } catch (error) {
        throw explain(error, path);
      }
    },
    close() {
      opened?.raw.close();
      opened = undefined;
      isClosed = true;
    },
  };
}

/** Made by us and not by SQLite, so that it and its companions have mode 0600. An empty file is an empty database. */
function createFile(path: string): void {
  try {
    makePrivateDir(dirname(path));
    closeSync(openSync(path, "a", 0o600));
    syncDir(dirname(path));
  } catch (error) {
    throw explain(error, path);
  }
}

function openDatabase(path: string, options: StoreOptions & { committed: () => void }) {
  let raw: DatabaseSync | undefined;
  try {
    raw = new DatabaseSync(path);
    raw.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON`);
    // New tables may be lost with the power; the first commit that must not be takes them to the disk with it.
    raw.exec("PRAGMA synchronous = NORMAL");
    useWriteAheadLog(raw);
    const database = makeDatabase(raw, { path, committed: options.committed });
    migrate(database, { raw, path, migrations: options.migrations });
    if (options.durability === "every-commit") raw.exec("PRAGMA synchronous = FULL");
    return { raw, database };
  } catch (error) {
    raw?.close();
    throw explain(error, path);
  }
}

/** The switch needs the file alone for a moment, and SQLite does not wait for that by itself. */
function useWriteAheadLog(raw: DatabaseSync): void {
  const giveUpAt = performance.now() + BUSY_TIMEOUT_MS;
  for (;;) {
    try {
      raw.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > giveUpAt) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAL_RETRY_MS);
    }
  }
}

function makeDatabase(raw: DatabaseSync, { path, committed }: { path: string; committed: () => void }): Database {
  const statements = new Map<string, StatementSync>();
  let commits = 0;
  const statement = (sql: string): StatementSync => {
    let found = statements.get(sql);
    if (found === undefined) {
      found = raw.prepare(sql);
      found.setReturnArrays(true);
      statements.set(sql, found);
    }
    return found;
  };
  const within = <T>(begin: string, work: () => T): T => {
    try {
      statement(begin).run();
      const result = work();
      statement("COMMIT").run();
      return result;
    } catch (error) {
      rollBack(raw);
      throw explain(error, path);
    }
  };
  return {
    statement,
    read: (work) => within("BEGIN", work),
    write(work) {
      const result = within("BEGIN IMMEDIATE", work);
      commits += 1;
      committed();
      return result;
    },
    version() {
      try {
        // SQLite's own number leaves out what this connection committed.
        const [others] = statement("PRAGMA data_version").get() as unknown as [number];
        return others + commits;
      } catch (error) {
        throw explain(error, path);
      }
    },
  };
}

function rollBack(raw: DatabaseSync): void {
  try {
    if (raw.isTransaction) raw.exec("ROLLBACK");
  } catch {
    // The first error is the one to tell; an open transaction ends with the connection.
  }
}

interface Migration {
  raw: DatabaseSync;
  path: string;
  migrations: readonly string[];
}

function migrate(database: Database, { raw, path, migrations }: Migration): void {
  const version = () => (database.statement("PRAGMA user_version").get() as unknown as [number])[0];
  const known = migrations.length;
  if (version() > known) {
    throw new TerminalError(`${basename(path)} was written by a newer pawl (format ${version()}, known ${known})`, {
      hint: "update pawl, or set PAWL_HOME to another directory",
    });
  }
  if (version() === known) return;
  database.write(() => {
    // Read again: another process may have migrated while we waited.
    for (const step of migrations.slice(version())) raw.exec(step);
    raw.exec(`PRAGMA user_version = ${known}`);
  });
}
