import { resolve } from "node:path";

import { type Config, journalFolderOf, filePassword, withPassword } from "../config/config.ts";
import { type DatabaseAddress, databaseUrl, describeStore } from "../config/database-url.ts";
import { compareRecords, copyRecords, type CopyWatch, type Difference } from "../store/copy.ts";
import { openRecords, openToFill } from "../store/open.ts";
import { type Counts, type FilledRecords, type Kind, KINDS, type Records } from "../store/records.ts";
import { hasSegments } from "../visits/journal/slots.ts";
import type { Arguments } from "./command.ts";
import { counted, NAMES } from "./record-names.ts";
import { fail, print } from "./terminal/print.ts";

/** Of differing links, which may be all. */
const MAX_NAMED = 10;
const SHOW_EVERY_MS = 200;

/** Copies a store to another one, which may have another engine; returns the exit code. */
export async function copy(config: Config, { positionals }: Arguments): Promise<number> {
  const [from, to] = (["FROM", "TO"] as const).map((name, nth) =>
    readAddress(name, positionals[nth] ?? "", config),
  );
  if (from === undefined || to === undefined) return 2;
  const [source, target] = [nameOf(from), nameOf(to)];
  if (source === target) return fail(`FROM and TO are the same store, ${source}.`);
  const folder = journalFolderOf(from, config.dataFolder);
  if (hasSegments(folder))
    return fail(
      `${folder} has visits that are not in FROM yet. Stop every Curt that uses FROM. If one was killed, start it and stop it once more.`,
    );
  await using records = closing(await openRecords(from));
  await using filled = closing(await openToFill(to));
  const progress = showProgress(await records.count());
  const outcome = await copyRecords(records, filled, source, progress);
  switch (outcome.kind) {
    case "in-use":
      return fail(`${target} has links or visits of its own. Copy to an empty database.`);
    case "other-source":
      return fail(`${target} is a copy of ${outcome.source}. Copy ${source} to an empty database.`);
    case "copied":
      return await compare(records, filled);
  }
}

function readAddress(name: string, text: string, config: Config): DatabaseAddress | undefined {
  const address = databaseUrl.parse(text);
  if (address !== undefined) return withPassword(address, filePassword(config));
  for (const wrong of databaseUrl.wrongParts?.(text) ?? [text])
    console.error(`curt: ${name} must be ${databaseUrl.right}, not ${JSON.stringify(wrong)}`);
  return undefined;
}

/** The same wherever the command is called. */
function nameOf(address: DatabaseAddress): string {
  return address.engine === "sqlite" ? resolve(address.path) : describeStore(address);
}

async function compare(from: Records, to: FilledRecords): Promise<number> {
  const { counts, compared, differences } = await compareRecords(from, to);
  if (differences.length > 0) {
    for (const line of describe(differences)) console.error(`curt: ${line}`);
    return fail(
      "the copy differs from FROM. If FROM is still served, stop every Curt that uses it, and run the same command again. " +
        "If they differ even then, copy to an empty database.",
    );
  }
  await to.finish();
  const all = KINDS.map((kind) => counted(kind, counts[kind]));
  print(`the copy is complete: ${all.join(", ")}`);
  print(`compared: all counts, and ${compared.toLocaleString("en")} links with the sums of their visits`);
  return 0;
}

function describe(differences: readonly Difference[]): string[] {
  const codes = differences.flatMap((one) => (one.kind === "link" ? [one.code] : []));
  const lines = differences.flatMap((one) =>
    one.kind === "count" ? [`${NAMES[one.of]}: ${one.from} in FROM, ${one.to} in TO`] : [],
  );
  if (codes.length === 0) return lines;
  const named = codes.slice(0, MAX_NAMED).map((code) => JSON.stringify(code));
  const more = codes.length > MAX_NAMED ? `, and ${codes.length - MAX_NAMED} more` : "";
  return [...lines, `links that differ: ${named.join(", ")}${more}`];
}

/** On a terminal, a line that changes; otherwise a line when a kind of record is through. */
function showProgress(counts: Counts): CopyWatch {
  const { isTTY } = process.stderr;
  let current: { kind: Kind; startedMs: number; copied: number } | undefined;
  let shownMs = Number.NEGATIVE_INFINITY;
  return {
    onAgain(how) {
      console.error(
        how === "continued"
          ? "going on where an earlier run stopped"
          : "an earlier run copied everything: reading it again, to correct what differs",
      );
    },
    onPart(kind, { copied, isDone }) {
      const nowMs = performance.now();
      // The first part of this run tells where it began.
      if (current?.kind !== kind) current = { kind, startedMs: nowMs, copied };
      if (!isDone && (!isTTY || nowMs - shownMs < SHOW_EVERY_MS)) return;
      shownMs = nowMs;
      const rate = Math.round(((copied - current.copied) * 1000) / Math.max(1, nowMs - current.startedMs));
      const speed = rate > 0 ? `, ${rate.toLocaleString("en")}/s` : "";
      const line = `${NAMES[kind]}: ${copied.toLocaleString("en")} of ${counts[kind].toLocaleString("en")}${speed}`;
      process.stderr.write(isTTY ? `\r\u001b[K${line}${isDone ? "\n" : ""}` : `${line}\n`);
    },
  };
}

function closing<T extends { close(): Promise<void> }>(opened: T): T & AsyncDisposable {
  return Object.assign(opened, { [Symbol.asyncDispose]: opened.close });
}
