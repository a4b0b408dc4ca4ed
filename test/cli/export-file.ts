// Files like those that `curt export` writes.
import type { DatabaseAddress } from "../../src/config/database-url.ts";
import { fillStore, openRecords } from "../../src/store/open.ts";
import { KINDS, type WriteRecords } from "../../src/store/shared/records.ts";
import { exportRecords, fillFrom } from "../../src/transfer/export-file.ts";
import { NOW } from "../stores/links.ts";

/** An export of this many links, each with a day of visits. */
export function manyLines(links: number): string {
  const created_at = new Date(NOW).toISOString();
  const lines = [HEAD];
  for (let nth = 0; nth < links; nth++) lines.push(linkLine(`c${nth}`, `https://example.com/${nth}`));
  const codes = Array.from({ length: links }, (_, nth) => `c${nth}`).toSorted();
  const counts = { day: "2026-11-20", visits: 2, bots: 1, visitors: 0 };
  for (const code of codes) lines.push(JSON.stringify({ kind: "day", code, created_at, ...counts }));
  const decision = { at: created_at, who: "api", action: "block-host" };
  for (let nth = 0; nth < 9; nth++)
    lines.push(JSON.stringify({ kind: "entry", id: nth + 1, ...decision, host: `h${nth}.example` }));
  return ended(lines, { link: links, day: links, entry: 9 });
}

/** The lines of an export with its last line. */
export function ended(lines: readonly string[], counts: { readonly [kind: string]: number }): string {
  const text = lines.map((line) => `${line}\n`).join("");
  const records = { ...Object.fromEntries(KINDS.map((kind) => [kind, 0])), ...counts };
  const sha256 = new Bun.CryptoHasher("sha256").update(text).digest("hex");
  return `${text}${JSON.stringify({ kind: "end", records, sha256 })}\n`;
}

export function linkLine(code: string, target = "https://example.com/"): string {
  return JSON.stringify({ kind: "link", code, target, created_at: new Date(NOW).toISOString() });
}

export const HEAD = '{"format":"curt-export","version":1,"code_case":"match"}';

export async function exportOf(address: DatabaseAddress): Promise<Buffer> {
  const records = await openRecords(address);
  const chunks: Uint8Array[] = [];
  await exportRecords(
    records,
    async (bytes) => void chunks.push(bytes),
    () => {},
  );
  await records.close();
  return Buffer.concat(chunks);
}

/** Returns false if the store isn't empty. `wrap` may change the writes. */
export async function importTo(
  address: DatabaseAddress,
  file: Uint8Array,
  wrap = (write: WriteRecords) => write,
): Promise<boolean> {
  const counts = await fillStore(address, "match", (write) =>
    fillFrom(chunksOf(file), wrap(write), {
      onBroken: (line, why) => {
        throw new Error(`${line}: ${why}`);
      },
      lastDay: 30_000,
      skipLink: () => false,
      onRecords() {},
    }),
  );
  return counts !== undefined;
}

async function* chunksOf(file: Uint8Array) {
  // Chunks end anywhere, like those of a pipe.
  for (let at = 0; at < file.length; at += 777) yield file.subarray(at, at + 777);
}
