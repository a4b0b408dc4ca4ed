import { UnreadableSource } from "./source.ts";

/** How files begin that hold other files. */
const PACKED: readonly (readonly [begins: string, what: string])[] = [
  ["1f8b", "is compressed. Unpack it with gunzip"],
  ["28b52ffd", "is compressed. Unpack it with unzstd"],
  ["fd377a585a00", "is compressed. Unpack it with unxz"],
  ["425a68", "is compressed. Unpack it with bunzip2"],
  ["504b0304", "is a ZIP archive or an Excel workbook. Unpack it, or save the sheet as CSV in UTF-8"],
];

/** Throws {@link UnreadableSource} if a file that begins like this must be unpacked first. */
export function requirePlain(beginning: Uint8Array): void {
  const hex = Buffer.from(beginning.subarray(0, 8)).toString("hex");
  const packed = PACKED.find(([begins]) => hex.startsWith(begins));
  if (packed !== undefined) throw new UnreadableSource(`${packed[1]}.`);
}
