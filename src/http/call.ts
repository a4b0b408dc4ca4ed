import type { RateLimitName } from "../moderation/rate-limits.ts";
import type { Client } from "../visits/recorder.ts";
import type { ClientOf } from "./client.ts";
import type { Domain } from "./domain.ts";

export type Handler = (call: Call) => Response | Promise<Response>;
/** All of a call but its connection. */
export type Asked = Omit<Call, "client" | "limits" | "mayTake">;

const NONE: readonly never[] = [];

/**
 * One request, as its handler sees it. Every redirect makes one, so this is a class: a factory would allocate its
 * methods every time.
 */
export class Call {
  private known: Client | undefined;
  /** The limits that the request was counted against. */
  limits: readonly RateLimitName[] = NONE;

  constructor(
    readonly request: Request,
    /** The code, or for the operator the host, as the path spells it, percent-decoded once. "" if the path has none. */
    readonly code: string,
    readonly domain: Domain,
    private readonly server: Bun.Server<unknown>,
    private readonly clientOf: ClientOf,
  ) {}

  get headers(): Headers {
    return this.request.headers;
  }

  /**
   * The client that sent the request. It is looked up only when needed, because that takes a tenth of a redirect's time
   * or more. Call this before you await anything: once the client hangs up, Bun no longer knows its address.
   */
  client(): Client {
    this.known ??= this.clientOf(this.request, this.server);
    return this.known;
  }

  /** Lets the answer take so long. Otherwise Bun closes an idle connection even if a request without a body is open on it. */
  mayTake(seconds: number): void {
    this.server.timeout(this.request, seconds);
  }
}

/** `code` is "" if the path has none. */
export type CallOf = (request: Request, server: Bun.Server<unknown>, code: string) => Call;

export interface CallOptions {
  readonly domain: Domain;
  readonly clientOf: ClientOf;
}

/** Every call is made here. If there are several domains one day, this is where one is chosen for a request. */
export function createCalls({ domain, clientOf }: CallOptions): CallOf {
  return (request, server, code) => new Call(request, code, domain, server, clientOf);
}
