import { type Counts, type Kind, KINDS, noCounts, type Records } from "../store/records.ts";
import { footer, HEADER, writeLine } from "./export-line.ts";

/** What is passed on at once, in UTF-16 units. */
const CHUNK_LENGTH = 256 * 1024;

/**
 * Writes everything that an export holds, as of one moment, in bounded memory. `write` resolves when it may be called again.
 */
export async function exportRecords(
  records: Pick<Records, "snapshot">,
  write: (bytes: Uint8Array) => Promise<void>,
  onRecords: (count: number) => void,
): Promise<Counts> {
  const hasher = new Bun.CryptoHasher("sha256");
  let waiting = HEADER;
  const flush = async () => {
    const bytes = Buffer.from(waiting);
    waiting = "";
    hasher.update(bytes);
    await write(bytes);
  };
  const counts = noCounts();
  await records.snapshot(async (read) => {
    for (const kind of KINDS)
      for await (const part of read<Kind>(kind)) {
        for (const record of part) waiting += writeLine(kind, record);
        counts[kind] += part.length;
        onRecords(part.length);
        if (waiting.length >= CHUNK_LENGTH) await flush();
      }
  });
  await flush();
  await write(Buffer.from(footer(counts, hasher.digest("hex"))));
  return counts;
}
