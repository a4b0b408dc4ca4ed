import { negotiateLanguage } from "../../language/messages.ts";
import { isProblem } from "../../links/problem.ts";
import { answer } from "../answers.ts";
import { refuseCoding } from "../body.ts";
import { problemJson, problemOf } from "../problems.ts";
import type { Dialect } from "./create.ts";
import { parseObject } from "./json-body.ts";
import { type Line, readLines } from "./lines.ts";
import type { Make } from "./makers.ts";
import type { Making } from "./making.ts";
import { type LinkResult, requestsOf, tellResults } from "./results.ts";

/** There is no registered type. These are the ones in use. */
const LINES_TYPE = /^application\/(?:x-ndjson|ndjson|jsonl)\s*(?:;|$)/i;
const ANSWER_TYPE = "application/x-ndjson";
/** Lines in one commit. Redirects on this thread wait while they are read: with 500, twice as long. */
const MAX_GROUP = 200;
/** Each holds some megabytes at worst. */
const MAX_STREAMS = 64;
/** How long nothing may arrive or be read. Waiting for the store is in it. */
const IDLE_SECONDS = 60;

export interface StreamOptions {
  readonly making: Pick<Making, "makeSome">;
  readonly onFault: (error: unknown) => void;
}

export function isLines({ headers }: Request): boolean {
  return LINES_TYPE.test(headers.get("content-type")?.trim() ?? "");
}

/**
 * Makes the link of each line, and answers with one line for each, in order. What arrives together shares a commit. Nothing
 * more is read while the client does not read its answers, so that a request of any length takes the same memory.
 */
export function createStream({ making, onFault }: StreamOptions): Make {
  let streams = 0;

  return async (call, dialect, path, recognize) => {
    const coding = refuseCoding(call.headers);
    if (coding !== undefined) return problemJson(call, coding);
    if (streams === MAX_STREAMS) return problemJson(call, { kind: "unavailable" });
    const language = negotiateLanguage(call.headers.get("accept-language"));
    const lines = readLines(call.request.body ?? new Blob().stream());
    let group = 0;
    streams++;
    let isOpen = true;
    function end(): void {
      if (isOpen) streams--;
      isOpen = false;
    }

    async function answerGroup(read: readonly Line[]): Promise<LinkResult[]> {
      const asked = read.map((line) => readLine(line, dialect));
      const requests = requestsOf(asked);
      const sent = recognize?.(path, JSON.stringify(read), group++);
      const made = await making.makeSome(call, requests, sent).catch((error: unknown) => {
        onFault(error);
        return problemOf(error);
      });
      const outcomes = isProblem(made) ? requests.map(() => made) : made;
      return tellResults(asked, outcomes, { dialect, domain: call.domain, language });
    }

    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          call.mayTake(IDLE_SECONDS);
          const read = await lines.next(MAX_GROUP, recognize !== undefined);
          if (read.length === 0) {
            end();
            return controller.close();
          }
          const results = await answerGroup(read);
          controller.enqueue(encode(results));
        },
        cancel: end,
      },
      { highWaterMark: 0 },
    );
    return answer({ body, type: ANSWER_TYPE, headers: { "Content-Language": language } });
  };
}

function readLine(line: Line, dialect: Dialect) {
  const body = isProblem(line) ? line : parseObject(line, dialect.example);
  return isProblem(body) ? body : dialect.read(body.value);
}

const TEXT = new TextEncoder();

function encode(results: readonly LinkResult[]): Uint8Array {
  return TEXT.encode(results.map((result) => `${JSON.stringify(result)}\n`).join(""));
}
