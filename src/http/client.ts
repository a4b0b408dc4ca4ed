import { HEADERS } from "../lib/bounds.ts";
import { createClientAddress, isTrusted, type Network } from "../lib/client-address.ts";
import { memoize } from "../lib/memoize.ts";
import type { Client } from "../visits/recorder.ts";

/** More than health checks on the same machine, which have no X-Forwarded-For either. */
const MANY_NOT_FORWARDED = 20;

export interface ClientOptions {
  /** The address to listen on. */
  readonly host: string;
  readonly trustedProxies: readonly Network[];
  readonly countryOf: (address: string) => string;
  /** Called once if trusted proxies send many requests without X-Forwarded-For. */
  readonly onNotForwarded?: () => void;
}

/** Returns the client that sent a request. Its address and country are "" if unknown. */
export type ClientOf = (request: Request, server: Bun.Server<unknown>) => Client;

/** The client is the peer of the connection, or the address that a trusted proxy forwards. */
export function createClientReader(options: ClientOptions): ClientOf {
  const { host, trustedProxies, countryOf, onNotForwarded } = options;
  const peerOf = peerReader(host);
  const clientAddress = createClientAddress(trustedProxies);
  const direct = memoize((peer): Client => {
    const address = clientAddress(peer, null);
    return { address, country: countryOf(address) };
  });
  const trusts = memoize((peer) => isTrusted(trustedProxies, peer));
  let notForwarded = 0;
  // Parsing the header takes half as long as a redirect.
  const addressBehind = memoize((key) => {
    const [peer = "", forwarded = ""] = key.split("\n", 2);
    if (forwarded !== "") notForwarded = Number.NEGATIVE_INFINITY;
    return clientAddress(peer, forwarded);
  });
  const country = memoize(countryOf);

  return (request, server) => {
    const peer = peerOf(request, server);
    if (trustedProxies.length === 0 || !trusts(peer)) return direct(peer);
    // Read from the right, where trusted proxies write, so only the start of a long one is cut off.
    const forwarded = request.headers.get("x-forwarded-for")?.slice(-HEADERS["x-forwarded-for"]) ?? null;
    if (forwarded === null && ++notForwarded === MANY_NOT_FORWARDED) onNotForwarded?.();
    const address = addressBehind(`${peer}\n${forwarded ?? ""}`);
    return { address, country: country(address), isThroughProxy: true };
  };
}

/**
 * Reads the address of a connection's peer. That costs a tenth of a redirect or more, so a server on loopback skips it.
 */
function peerReader(host: string): (request: Request, server: Bun.Server<unknown>) => string {
  if (/^127\.[\d.]+$/.test(host)) return () => "127.0.0.1";
  if (host === "::1") return () => host;
  if (host === "localhost") return (_request, server) => server.hostname ?? "";
  return (request, server) => server.requestIP(request)?.address ?? "";
}
