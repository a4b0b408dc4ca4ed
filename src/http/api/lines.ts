import { isProblem } from "../../links/problem.ts";
import { decodeText, MAX_BODY_BYTES } from "../body.ts";
import type { HttpProblem } from "../problems.ts";
import type { Turn } from "./places.ts";

/** A line of JSON, or why it cannot be read. */
export type Line = string | HttpProblem;

export interface LineReader {
  /**
   * Waits for lines and returns what is there, at most `limit` of them; nothing at the end. With `fill`, it waits until there
   * are so many, or enough bytes: then the sender's packets make no difference. What is not asked for is not read, so that the
   * sender has to wait. Rejects if the sender is gone.
   */
  next(limit: number, fill: boolean): Promise<Line[]>;
}

const NEWLINE = 0x0a;
/** In UTF-16 units. The line that passes it is the last one of its group. */
const MAX_GROUP_LENGTH = 256 * 1024;
/** Lines in one turn. */
const MAX_TAKEN = 1000;
const TOO_LONG = { kind: "body.too-large", max: MAX_BODY_BYTES } as const;

/** Reads NDJSON (https://github.com/ndjson/ndjson-spec), ignoring empty lines. Holds a line and what arrived with it. */
export function readLines(body: ReadableStream<Uint8Array>, turn: Turn): LineReader {
  const reader = body.getReader();
  let rest = Buffer.alloc(0);
  /** What of `rest` has no end of line. */
  let searched = 0;
  /** In the middle of a line that is too long already. */
  let isSkipping = false;
  let isOver = false;

  async function receive(): Promise<void> {
    const { done, value } = await reader.read();
    await turn();
    isOver = done;
    if (value !== undefined) rest = rest.length === 0 ? asBuffer(value) : Buffer.concat([rest, value]);
  }

  /** Undefined if no whole line is there. */
  function takeLine(): Line | undefined {
    const end = rest.indexOf(NEWLINE, searched);
    if (end === -1 && !isOver) {
      if (rest.length > MAX_BODY_BYTES) {
        rest = Buffer.alloc(0);
        isSkipping = true;
      }
      searched = rest.length;
      return undefined;
    }
    if (rest.length === 0 && !isSkipping) return undefined;
    const bytes = end === -1 ? rest : rest.subarray(0, end);
    rest = end === -1 ? Buffer.alloc(0) : rest.subarray(end + 1);
    searched = 0;
    const isTooLong = isSkipping || bytes.length > MAX_BODY_BYTES;
    isSkipping = false;
    return isTooLong ? TOO_LONG : decodeText(bytes);
  }

  return {
    async next(limit, fill) {
      const lines: Line[] = [];
      let length = 0;
      for (let taken = 1; lines.length < limit && length < MAX_GROUP_LENGTH; taken++) {
        // Empty lines belong to no group, and megabytes of them may have arrived.
        if (taken % MAX_TAKEN === 0) await turn();
        const line = takeLine();
        if (line !== undefined) {
          if (isProblem(line) || line.trim() !== "") lines.push(line);
          length += isProblem(line) ? 0 : line.length;
        } else if (isOver || (lines.length > 0 && !fill)) break;
        else await receive();
      }
      return lines;
    },
  };
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer<ArrayBuffer> {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}
