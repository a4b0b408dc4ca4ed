import type { Clock } from "../../links/clock.ts";
import { type Code, lookUpCode, NEVER_IN_CODES } from "../../links/code.ts";
import type { Link } from "../../links/link.ts";
import type { Links } from "../../links/links.ts";
import { isProblem, type Problem } from "../../links/problem.ts";
import { type Counter, counterOf, type Recorder } from "../../visits/recorder.ts";
import type { Call, CallOf } from "../call.ts";
import { problemAnswer, problemOf } from "../problems.ts";
import { createCache } from "./cache.ts";

/** In bytes. Half of it, some 100,000 links with targets of 80 characters, is sure to be remembered. */
const CACHE_BYTES = 96 * 1024 * 1024;
/** Measured: what an entry takes beside the characters of its code and target. */
const ENTRY_BYTES = 400;

export interface RedirectOptions {
  readonly links: Links;
  readonly clock: Clock;
  readonly recorder: Pick<Recorder, "record">;
  readonly callOf: CallOf;
  /** How long a shared cache may keep a redirect, in seconds. */
  readonly cacheSeconds: number;
  readonly onFault: (error: unknown) => void;
}

interface Entry extends Counter {
  readonly endsMs: number;
  readonly target: string;
}

type Server = Bun.Server<unknown>;
type RouteHandler = (request: Bun.BunRequest<"/:code">, server: Server) => Response | Promise<Response>;
/** Answers an address that no code can be. */
type Elsewhere = (request: Request, server: Server) => Response | Promise<Response>;

/**
 * GET and HEAD of a short address (RFC 9110, section 15.4.3). Only links that lead somewhere are remembered:
 * 404 and 410 are never answered from memory, so that a link made by another process resolves at once. A GET is
 * counted before it is answered; a HEAD is nobody's visit. What cannot be a code is answered elsewhere.
 */
export function createRedirect(options: RedirectOptions) {
  const { links, clock, recorder, callOf, cacheSeconds, onFault } = options;
  // By the code as stored, which is how most addresses spell it: they need no normalising.
  const cache = createCache<Entry>(
    CACHE_BYTES,
    (code, { target }) => ENTRY_BYTES + code.length + target.length,
  );
  const inFlight = new Map<string, Promise<Link | Problem>>();

  function remember(link: Link): Entry {
    const entry: Entry = { ...counterOf(link), endsMs: link.endsMs, target: link.target };
    cache.set(link.code, entry);
    return entry;
  }

  /** Undefined where the store must be asked: an ended link's code may have been given anew. */
  function remembered(spelling: string, nowMs: number): Entry | undefined {
    const entry = cache.get(spelling) ?? rememberedAs(lookUpCode(spelling), spelling);
    return entry !== undefined && nowMs < entry.endsMs ? entry : undefined;
  }

  function rememberedAs(code: Code | undefined, spelling: string): Entry | undefined {
    return code === undefined || code === spelling ? undefined : cache.get(code);
  }

  function answer({ target, endsMs }: Entry, nowMs: number): Response {
    const sharedSeconds = Math.min(cacheSeconds, Math.floor((endsMs - nowMs) / 1000));
    const cacheControl = sharedSeconds > 0 ? `public, max-age=0, s-maxage=${sharedSeconds}` : "no-store";
    return new Response(null, { status: 302, headers: { Location: target, "Cache-Control": cacheControl } });
  }

  /** However many wait for one spelling, the store is asked once. */
  function resolve(spelling: string): Promise<Link | Problem> {
    const early = inFlight.get(spelling);
    return early === undefined ? ask(spelling) : join(early, spelling);
  }

  /** Of an earlier question only a link is shared: what was not there when it was asked may be there now. */
  async function join(early: Promise<Link | Problem>, spelling: string): Promise<Link | Problem> {
    const link = await early;
    return isProblem(link) ? (inFlight.get(spelling) ?? ask(spelling)) : link;
  }

  function ask(spelling: string): Promise<Link | Problem> {
    const link = links.resolve(spelling);
    const forget = () => void inFlight.delete(spelling);
    inFlight.set(spelling, link);
    link.then(forget, forget);
    return link;
  }

  async function lookUp(call: Call, onFound: (entry: Entry) => void): Promise<Response> {
    try {
      const link = await resolve(call.code);
      if (isProblem(link)) return problemAnswer(call, link);
      // Whoever waited for the same answer finds it remembered.
      const nowMs = clock.nowMs();
      const entry = remembered(link.code, nowMs) ?? remember(link);
      onFound(entry);
      return answer(entry, nowMs);
    } catch (error) {
      onFault(error);
      return problemAnswer(call, problemOf(error));
    }
  }

  /** Whatever is wrong with counting, the visitor gets where they wanted. */
  function count(entry: Entry, call: Call, nowMs: number): void {
    try {
      recorder.record(entry, call, nowMs);
    } catch (error) {
      onFault(error);
    }
  }

  return (elsewhere: Elsewhere) => {
    const GET: RouteHandler = (request, server) => {
      const { code } = request.params;
      const nowMs = clock.nowMs();
      const entry = remembered(code, nowMs);
      if (entry === undefined) {
        if (NEVER_IN_CODES.test(code)) return elsewhere(request, server);
        const call = callOf(request, server, code);
        // A visitor who hangs up while the store is asked is still told from others.
        call.client();
        return lookUp(call, (found) => count(found, call, clock.nowMs()));
      }
      count(entry, callOf(request, server, code), nowMs);
      return answer(entry, nowMs);
    };
    const HEAD: RouteHandler = (request, server) => {
      const { code } = request.params;
      const nowMs = clock.nowMs();
      const entry = remembered(code, nowMs);
      if (entry !== undefined) return answer(entry, nowMs);
      if (NEVER_IN_CODES.test(code)) return elsewhere(request, server);
      return lookUp(callOf(request, server, code), () => {});
    };
    return { GET, HEAD };
  };
}

export type Redirect = ReturnType<typeof createRedirect>;
