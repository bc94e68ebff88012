/**
 * The row of a run: where its chain ends, who drives it, how much waits in its inbox. The row is checked by its
 * checksum whenever it is read, and the number of rows is kept apart, so that a lost row is noticed too.
 */
import { hash } from "node:crypto";
import { UsageError } from "../errors.ts";
import type { Owner } from "../ports.ts";
import type { Link } from "./chain.ts";
import type { Database, Store } from "./sqlite.ts";
import { damaged } from "./trouble.ts";

export interface RunRecord {
  number: number;
  run: string;
  createdAt: number;
  repository: string;
  goal: string;
  head: Link;
  epoch: number;
  owner: Owner | undefined;
  /** Directives ever put into the inbox, and how many of them, from the first on, are in the journal. */
  queued: number;
  taken: number;
}

const COLUMNS = "number, run, created_at, repository, goal, head_seq, head_hash, epoch, owner, queued, taken, checksum";
const TALLY_ID = 1;
/** The goal in the list of runs, for people; the whole is in `run-start`. */
const MAX_GOAL_CHARS = 500;

export function checksumOf(values: readonly unknown[]): string {
  return hash("sha256", JSON.stringify(values));
}

function toRow(record: RunRecord) {
  const { number, run, createdAt, repository, goal, head, epoch, owner, queued, taken } = record;
  const ownerText = owner === undefined ? null : JSON.stringify(owner);
  return [number, run, createdAt, repository, goal, head.seq, head.hash, epoch, ownerText, queued, taken] as const;
}

function fromRow(row: readonly unknown[]): RunRecord {
  if (checksumOf(row.slice(0, -1)) !== row.at(-1))
    throw damaged(`the row of run ${String(row[1])} is not what was written`);
  const [number, run, createdAt, repository, goal, seq, headHash, epoch, owner, queued, taken] = row as readonly [
    ...ReturnType<typeof toRow>,
    string,
  ];
  const parsed = owner === null ? undefined : (JSON.parse(owner) as Owner);
  const head = { seq, hash: headHash };
  return { number, run, createdAt, repository, goal, head, epoch, owner: parsed, queued, taken };
}

const rowsOf = (database: Database, sql: string, ...values: (string | number)[]) =>
  database.statement(sql).all(...values) as unknown as unknown[][];

export function allRuns(database: Database): RunRecord[] {
  const rows = rowsOf(database, `SELECT ${COLUMNS} FROM runs ORDER BY number`).map(fromRow);
  if (rows.length !== countedRuns(database)) throw damaged("the list of runs is not complete");
  return rows;
}

function countedRuns(database: Database): number {
  const [row, ...more] = rowsOf(database, "SELECT id, runs, checksum FROM tally");
  if (row === undefined) return 0;
  if (more.length > 0 || checksumOf(row.slice(0, -1)) !== row.at(-1))
    throw damaged("the count of runs is not what was written");
  return row[1] as number;
}

/** "There is no such run" is only said when all rows are there and in order. */
function findRun(database: Database, run: string): RunRecord | undefined {
  const [row] = rowsOf(database, `SELECT ${COLUMNS} FROM runs WHERE run = ?`, run);
  return row === undefined ? allRuns(database).find((record) => record.run === run) : fromRow(row);
}

function noSuchRun(run: string): UsageError {
  return new UsageError(`there is no run ${run}`, { hint: "`pawl runs` lists the runs there are" });
}

/** Looking for a run creates nothing. */
export function needDatabase(store: Store, run: string): Database {
  const database = store.existing();
  if (database === undefined) throw noSuchRun(run);
  return database;
}

export function needRun(database: Database, run: string): RunRecord {
  const found = findRun(database, run);
  if (found === undefined) throw noSuchRun(run);
  return found;
}

/** By number: the fast way for who has found it before. */
export function runAt(database: Database, number: number): RunRecord {
  const [row] = rowsOf(database, `SELECT ${COLUMNS} FROM runs WHERE number = ?`, number);
  if (row === undefined) throw damaged(`the row of run number ${number} is missing`);
  return fromRow(row);
}

/** Inside a write transaction. */
export function insertRun(database: Database, about: Omit<RunRecord, "number">): RunRecord {
  const before = allRuns(database);
  if (before.some((record) => record.run === about.run)) {
    throw new UsageError(`there is a run ${about.run} already`, {
      hint: "drive it on with `pawl resume`, or take another name",
    });
  }
  const goal = about.goal.slice(0, MAX_GOAL_CHARS);
  const record = { ...about, goal, number: (before.at(-1)?.number ?? 0) + 1 };
  const row = toRow(record);
  database
    .statement(`INSERT INTO runs (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
    .run(...row, checksumOf(row));
  countRuns(database, before.length + 1);
  return record;
}

/** Inside a write transaction. */
export function deleteRun(database: Database, { number }: Pick<RunRecord, "number">): void {
  const before = allRuns(database);
  database.statement("DELETE FROM runs WHERE number = ?").run(number);
  countRuns(database, before.length - 1);
}

function countRuns(database: Database, runs: number): void {
  const tally = [TALLY_ID, runs];
  database.statement("REPLACE INTO tally (id, runs, checksum) VALUES (?, ?, ?)").run(...tally, checksumOf(tally));
}

/** Inside a write transaction, with a record read in that transaction. */
export function updateRun(database: Database, record: RunRecord): void {
  const row = toRow(record);
  const [number, , , , , seq, headHash, epoch, owner, queued, taken] = row;
  database
    .statement(
      "UPDATE runs SET head_seq = ?, head_hash = ?, epoch = ?, owner = ?, queued = ?, taken = ?, checksum = ? WHERE number = ?",
    )
    .run(seq, headHash, epoch, owner, queued, taken, checksumOf(row), number);
}
