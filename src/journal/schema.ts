/**
 * The tables. A fact's place is `number of the run * SPAN + seq`, one integer key, so that appending and reading in
 * order touch one tree and no index. Rows that no chain protects carry a checksum of their own.
 */

/** Facts, and directives, a run may have. */
export const SPAN = 2 ** 32;

export const JOURNAL_MIGRATIONS: readonly string[] = [
  `CREATE TABLE runs (
     number INTEGER PRIMARY KEY,
     run TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     repository TEXT NOT NULL,
     goal TEXT NOT NULL,
     head_seq INTEGER NOT NULL,
     head_hash TEXT NOT NULL,
     epoch INTEGER NOT NULL,
     owner TEXT,
     queued INTEGER NOT NULL,
     taken INTEGER NOT NULL,
     checksum TEXT NOT NULL
   ) STRICT;
   CREATE TABLE tally (id INTEGER PRIMARY KEY, runs INTEGER NOT NULL, checksum TEXT NOT NULL) STRICT;
   CREATE TABLE facts (id INTEGER PRIMARY KEY, hash BLOB NOT NULL, body TEXT NOT NULL) STRICT;
   CREATE TABLE inbox (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, body TEXT NOT NULL, checksum TEXT NOT NULL) STRICT;`,
  "-- The tables stay. Facts may be told by how they differ from here on (shorten.ts), which no older pawl can read.",
];

export const TRACE_MIGRATIONS: readonly string[] = [
  `CREATE TABLE lines (
     n INTEGER PRIMARY KEY,
     run TEXT NOT NULL,
     turn INTEGER NOT NULL,
     at REAL NOT NULL,
     kind TEXT NOT NULL,
     data TEXT NOT NULL
   ) STRICT;
   CREATE INDEX lines_of_run ON lines (run, n);`,
];
