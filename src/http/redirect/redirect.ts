import type { Clock } from "../../links/clock.ts";
import { NEVER_IN_CODES } from "../../links/code.ts";
import type { Recorder } from "../../visits/recorder.ts";
import { type HttpProblem, problemAnswer, problemOf } from "../problems.ts";
import type { Entry, LinkMemory } from "./memory.ts";

export interface RedirectOptions {
  readonly memory: Pick<LinkMemory, "get" | "lookUp">;
  readonly clock: Clock;
  readonly recorder: Pick<Recorder, "record">;
  readonly peerOf: PeerOf;
  /** How long a shared cache may keep a redirect, in seconds. */
  readonly cacheSeconds: number;
  readonly onFault: (error: unknown) => void;
}

type RedirectRequest = Bun.BunRequest<"/:code">;
/** Answers an address that no code can be. */
type Elsewhere = (request: Request) => Response | Promise<Response>;
type RouteHandler = (request: RedirectRequest, server: Bun.Server<unknown>) => Response | Promise<Response>;

/** The address of the other end of a connection. */
export type PeerOf = (request: Request, server: Bun.Server<unknown>) => string;

/**
 * GET and HEAD of a short address (RFC 9110, section 15.4.3). Only links that lead somewhere are remembered:
 * 404 and 410 are never answered from memory, so that a link made by another process resolves at once. A GET is
 * counted before it is answered; a HEAD is nobody's visit. What cannot be a code is answered elsewhere.
 */
export function createRedirect(options: RedirectOptions) {
  const { memory, clock, recorder, peerOf, cacheSeconds, onFault } = options;

  function answer({ target, endsMs }: Entry, nowMs: number): Response {
    const sharedSeconds = Math.min(cacheSeconds, Math.floor((endsMs - nowMs) / 1000));
    const cacheControl = sharedSeconds > 0 ? `public, max-age=0, s-maxage=${sharedSeconds}` : "no-store";
    return new Response(null, { status: 302, headers: { Location: target, "Cache-Control": cacheControl } });
  }

  async function lookUp(request: RedirectRequest, onFound: (entry: Entry) => void): Promise<Response> {
    let problem: HttpProblem;
    const spelling = request.params.code;
    try {
      const found = await memory.lookUp(spelling);
      if ("target" in found) {
        onFound(found);
        return answer(found, clock.nowMs());
      }
      problem = found;
    } catch (error) {
      onFault(error);
      problem = problemOf(error);
    }
    return problemAnswer(request, problem);
  }

  /** Whatever is wrong with counting, the visitor gets where they wanted. */
  function count(entry: Entry, headers: Headers, peer: string, nowMs: number): void {
    try {
      recorder.record(entry, headers, peer, nowMs);
    } catch (error) {
      onFault(error);
    }
  }

  return (elsewhere: Elsewhere) => {
    const GET: RouteHandler = (request, server) => {
      const nowMs = clock.nowMs();
      const entry = memory.get(request.params.code, nowMs);
      const peer = peerOf(request, server);
      if (entry === undefined) {
        if (NEVER_IN_CODES.test(request.params.code)) return elsewhere(request);
        const { headers } = request;
        return lookUp(request, (found) => count(found, headers, peer, clock.nowMs()));
      }
      count(entry, request.headers, peer, nowMs);
      return answer(entry, nowMs);
    };
    const HEAD: RouteHandler = (request) => {
      const nowMs = clock.nowMs();
      const entry = memory.get(request.params.code, nowMs);
      if (entry !== undefined) return answer(entry, nowMs);
      return NEVER_IN_CODES.test(request.params.code) ? elsewhere(request) : lookUp(request, () => {});
    };
    return { GET, HEAD };
  };
}

export type Redirect = ReturnType<typeof createRedirect>;
