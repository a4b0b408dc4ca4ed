// A connection that moves the log into the file by itself. SQLite's automatic checkpoints would ignore a failed sync.
import { Database, type SQLQueryBindings, type Statement } from "bun:sqlite";
import { closeSync, existsSync, fstatSync, openSync } from "node:fs";

import { forgetMovedFrames } from "./wal.ts";

/** From this many pages on, the log is moved into the file. SQLite's default of 1,000 writes pages of the index more often. */
const LONG_LOG_PAGES = 4000;
/** While a reader limits moves, each writes the same pages again, and creates wait. So moves pause, and take at most
 * this share of the time. */
const MOVE_PAUSE_MS = 1000;
const MOVE_SHARE = 1 / 10;

/** A row of PRAGMA wal_checkpoint: whether others were in the way, pages in the log, and pages moved to the file. */
type LogState = [isBusy: number, pages: number, movedPages: number];

/** A connection that finalizes its statements before it closes: SQLite releases the file only after the last one. */
export class FileDatabase extends Database {
  readonly #statements: Pick<Statement, "finalize">[] = [];
  #logState: Statement<unknown, []> | undefined;
  /** A descriptor of the log's index. Closing it drops SQLite's locks of the whole process on the index. */
  #index: number | undefined;
  /** When {@link checkpointIfLong} may move a log that is still long. */
  #moveAtMs = 0;

  /** Prepares a statement that is used until the connection closes. */
  statement<Row, Values extends SQLQueryBindings[]>(sql: string) {
    const statement = this.prepare<Row, Values>(sql);
    this.#statements.push(statement);
    return statement;
  }

  /** Moves the log into the file once it is long. Call it after each transaction. Takes about 1 µs otherwise. */
  checkpointIfLong(): void {
    const [, pages, movedPages] = this.#readLogState();
    if (pages < LONG_LOG_PAGES) this.#moveAtMs = 0;
    if (pages < LONG_LOG_PAGES || movedPages === pages || performance.now() < this.#moveAtMs) return;
    const startMs = performance.now();
    this.moveLog("PASSIVE");
    const endMs = performance.now();
    this.#moveAtMs = endMs + Math.max(MOVE_PAUSE_MS, (endMs - startMs) / MOVE_SHARE);
  }

  #readLogState(): LogState {
    this.#logState ??= this.statement("PRAGMA wal_checkpoint(NOOP)");
    return this.#logState.values()[0] as LogState;
  }

  /** Moves the log into the file and empties it. False if other connections prevent that. */
  emptyLog(): boolean {
    const [isBusy] = this.moveLog("TRUNCATE");
    return isBusy === 0;
  }

  /**
   * Moves the log. If a reader has limited the move before, it moves the whole log again, which is always safe: that move wasn't
   * synced, so a failed sync drops it, but the index counts it, and outlives a killed process if another program reads the store.
   */
  moveLog(mode: "PASSIVE" | "TRUNCATE"): LogState {
    const isFirst = this.#index === undefined;
    // Before the sync, so that an error here can't hide that one failed.
    this.#index ??= openIndex(this);
    const [, pages, movedPages] = this.#readLogState();
    if (this.#index !== undefined && (isFirst || movedPages < pages)) forgetMovedFrames(this.#index);
    return this.query<unknown, []>(`PRAGMA wal_checkpoint(${mode})`).values()[0] as LogState;
  }

  override close(throwOnError?: boolean): void {
    for (const statement of this.#statements) statement.finalize();
    super.close(throwOnError);
    // Otherwise another connection of this process may be open. A program that opens the store after its locks are gone would
    // clear the index, and a simultaneous checkpoint would delete a log that it hasn't moved.
    if (this.#index !== undefined && isDeleted(this.#index)) closeSync(this.#index);
    this.#index = undefined;
  }
}

/** Whether the last connection of all processes has closed. */
function isDeleted(index: number): boolean {
  return fstatSync(index).nlink === 0;
}

/** Opens the index of the log. Undefined if there is none. */
function openIndex(database: Database): number | undefined {
  // SQLite creates the index when it reads.
  database.run("SELECT 1 FROM sqlite_schema");
  const path = `${database.filename}-shm`;
  return existsSync(path) ? openSync(path, "r+") : undefined;
}
