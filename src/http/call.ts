import type { RateLimitName } from "../moderation/rate-limits.ts";
import type { Client } from "../visits/recorder.ts";
import type { ClientOf } from "./client.ts";
import type { Domain } from "./domain.ts";

export type Handler = (call: Call) => Response | Promise<Response>;
/** A call without its connection, as the views thread gets it. */
export type DetachedCall = Omit<Call, "at" | "by" | "person" | "client" | "limits" | "mayTake">;

const NONE: readonly never[] = [];

/**
 * One request, as its handler sees it. A class, because every redirect creates one: a factory would allocate its methods each
 * time.
 */
export class Call {
  private knownClient: Client | undefined;
  /** The limits that the request counted against. */
  limits: readonly RateLimitName[] = NONE;
  /** The caller's name, once a check has found it: that of a token, or of a person whom a trusted proxy has signed in. */
  by: string | undefined = undefined;
  /** The same name if it is that of a person in CREATE_USER_HEADER, who owns what the call creates. */
  person: string | undefined = undefined;

  constructor(
    readonly request: Request,
    /** The code, or a host for the operator, as spelled in the path, percent-decoded once. "" without one. */
    readonly code: string,
    readonly domain: Domain,
    private readonly server: Bun.Server<unknown>,
    private readonly clientOf: ClientOf,
  ) {}

  get headers(): Headers {
    return this.request.headers;
  }

  /**
   * The client that sent the request. Reading its address takes a tenth of a redirect's time or more. Once the client hangs up,
   * Bun no longer knows the address, so the router reads it before anything else, and a redirect before it looks anything up.
   */
  client(): Client {
    this.knownClient ??= this.clientOf(this.request, this.server);
    return this.knownClient;
  }

  /** The same request, for another code or a link of another domain. */
  at(domain: Domain, code: string): Call {
    const call = new Call(this.request, code, domain, this.server, this.clientOf);
    call.knownClient = this.knownClient;
    call.by = this.by;
    call.person = this.person;
    return call;
  }

  /** Extends the time for the response. Bun closes an idle connection even with an open request, if that has no body. */
  mayTake(seconds: number): void {
    this.server.timeout(this.request, seconds);
  }
}

/** `code` is "" if the path has none. */
export type CallOf = (request: Request, server: Bun.Server<unknown>, code: string) => Call;

/** Creates all calls of a domain. */
export function createCalls({
  domain,
  clientOf,
}: {
  readonly domain: Domain;
  readonly clientOf: ClientOf;
}): CallOf {
  return (request, server, code) => new Call(request, code, domain, server, clientOf);
}
