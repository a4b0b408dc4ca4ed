import { type Kind, KINDS, noCounts, type RecordOf } from "../store/records.ts";
import { readBlocks } from "./lines.ts";
import { parseLine, type ParsedLine, wrongHeader } from "./parse-line.ts";
import { BrokenLine } from "./record-fields.ts";
import { UnreadableSource } from "./source.ts";

export interface ReadOptions {
  /** Called for each broken line. If it returns, the line is passed over. */
  onBroken(line: number, why: string): void;
}

/** Records of one kind that stand together. */
interface Run {
  readonly kind: Kind;
  /** The number of the first one's line. */
  readonly line: number;
  readonly records: RecordOf[Kind][];
}

/** Throws {@link UnreadableSource} if it is no export, or was cut off or changed and `onBroken` does not pass over that. */
export async function* readExport(
  bytes: AsyncIterable<Uint8Array>,
  { onBroken }: ReadOptions,
): AsyncGenerator<Run> {
  let nth = 0;
  /** Undefined once a broken line was passed over, whose kind is unknown. */
  let records: Record<Kind, number> | undefined = noCounts();
  let isOver = false;
  for await (const { lines, sha256 } of readBlocks(bytes)) {
    const runs: Run[] = [];
    for (const [at, line] of lines.entries()) {
      nth++;
      if (nth === 1) {
        const wrong = wrongHeader(line);
        if (wrong !== undefined) throw new UnreadableSource(wrong);
        continue;
      }
      const parsed = parse(line, (why) => onBroken(nth, why));
      if (parsed === undefined) {
        records = undefined;
        continue;
      }
      if (isOver) onBroken(nth, "it comes after the last line of an export");
      else if (parsed.kind === "end") {
        isOver = true;
        if (at === lines.length - 1 && parsed.sha256 !== sha256)
          onBroken(nth, "the lines before it were changed since they were written");
        const wrong = KINDS.find((kind) => records !== undefined && records[kind] !== parsed.records[kind]);
        if (wrong !== undefined)
          onBroken(
            nth,
            `lines of the kind ${wrong}: it counts ${parsed.records[wrong]}, and there are ${records?.[wrong]}`,
          );
      } else {
        if (records !== undefined) records[parsed.kind]++;
        const run = runs.at(-1);
        if (run?.kind === parsed.kind && run.line + run.records.length === nth)
          run.records.push(parsed.record);
        else runs.push({ kind: parsed.kind, line: nth, records: [parsed.record] });
      }
    }
    yield* runs;
  }
  if (nth === 0) throw new UnreadableSource("is empty.");
  if (!isOver) onBroken(nth + 1, "the file was cut off: its last line is missing");
}

function parse(line: string | undefined, onBroken: (why: string) => void): ParsedLine | undefined {
  try {
    return parseLine(line);
  } catch (error) {
    if (!(error instanceof BrokenLine)) throw error;
    onBroken(error.message);
    return undefined;
  }
}
