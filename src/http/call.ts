import type { Client } from "../visits/recorder.ts";
import type { ClientOf } from "./client.ts";
import type { Domain } from "./domain.ts";

export type Handler = (call: Call) => Response | Promise<Response>;
/** All of a call but who makes it. */
export type Asked = Omit<Call, "client">;

/**
 * One request, as its handler sees it. It is a class because the redirect makes one for each visit: methods on a
 * prototype cost nothing there, closures would be allocated every time.
 */
export class Call {
  private known: Client | undefined;

  constructor(
    readonly request: Request,
    /** The code as the path spells it, percent-decoded once; "" where the path has none. */
    readonly code: string,
    readonly domain: Domain,
    private readonly server: Bun.Server<unknown>,
    private readonly clientOf: ClientOf,
  ) {}

  get headers(): Headers {
    return this.request.headers;
  }

  /**
   * Who asks, looked up at the first call because it costs a tenth of a redirect or more. Ask before you await
   * anything: once the client has hung up, Bun no longer knows its address.
   */
  client(): Client {
    this.known ??= this.clientOf(this.request, this.server);
    return this.known;
  }
}

/** Makes the call of a request that reached the server with a code in its path, or "". */
export type CallOf = (request: Request, server: Bun.Server<unknown>, code: string) => Call;

export interface CallOptions {
  readonly domain: Domain;
  readonly clientOf: ClientOf;
}

/** Every call is made here, so this is where a request's domain is chosen. */
export function createCalls({ domain, clientOf }: CallOptions): CallOf {
  return (request, server, code) => new Call(request, code, domain, server, clientOf);
}
