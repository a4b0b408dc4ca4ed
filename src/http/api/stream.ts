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
import { type Enter, MANY_SECONDS, type Turn } from "./places.ts";
import { type LinkResult, requestsOf, tellResults } from "./results.ts";

/** There is no registered type. These are the ones in use. */
const LINES_TYPE = /^application\/(?:x-ndjson|ndjson|jsonl)\s*(?:;|$)/i;
const ANSWER_TYPE = "application/x-ndjson";
/** Lines in one commit. Redirects on this thread wait while they are read: with 500, twice as long. */
const MAX_GROUP = 200;

export interface StreamOptions {
  readonly making: Pick<Making, "makeSome">;
  readonly enter: Enter;
  readonly turn: Turn;
  readonly onFault: (error: unknown) => void;
}

export function isLines({ headers }: Request): boolean {
  return LINES_TYPE.test(headers.get("content-type")?.trim() ?? "");
}

/**
 * Makes the link of each line, and answers with one line for each, in order. What arrives together shares a commit. Nothing
 * more is read while the client does not read its answers, so that a request of any length takes the same memory.
 */
export function createStream({ making, enter, turn, onFault }: StreamOptions): Make {
  return async (call, dialect, path, recognize) => {
    const coding = refuseCoding(call.headers);
    if (coding !== undefined) return problemJson(call, coding);
    const leave = enter(call);
    if (leave === undefined) return problemJson(call, { kind: "unavailable" });
    const language = negotiateLanguage(call.headers.get("accept-language"));
    const lines = readLines(call.request.body ?? new Blob().stream(), turn);
    let group = 0;

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
          call.mayTake(MANY_SECONDS);
          let isGoingOn = false;
          try {
            const read = await lines.next(MAX_GROUP, recognize !== undefined);
            await turn();
            if (read.length > 0) controller.enqueue(encode(await answerGroup(read)));
            else controller.close();
            isGoingOn = read.length > 0;
          } finally {
            if (!isGoingOn) leave();
          }
        },
        cancel: leave,
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
