import { memoize } from "../lib/memoize.ts";
import { createClientAddress, isTrusted, type Network } from "../moderation/client-address.ts";
import type { Client } from "../visits/recorder.ts";

/** A health check on the same machine comes without X-Forwarded-For, too. */
const MANY_NOT_FORWARDED = 20;

export interface ClientOptions {
  /** The address that the server listens on. */
  readonly host: string;
  readonly trustedProxies: readonly Network[];
  readonly countryOf: (address: string) => string;
  /** Called once if trusted proxies send many requests, and none has X-Forwarded-For. */
  readonly onNotForwarded?: () => void;
}

/** Returns the client that sent a request. Its address and country are "" if unknown. */
export type ClientOf = (request: Request, server: Bun.Server<unknown>) => Client;

/** The client is the other end of the connection, or, if that is a trusted proxy, whoever the proxy names. */
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
  // Reading the header takes half as long as a redirect.
  const addressBehind = memoize((key) => {
    const [peer = "", forwarded = ""] = key.split("\n", 2);
    if (forwarded !== "") notForwarded = Number.NEGATIVE_INFINITY;
    return clientAddress(peer, forwarded);
  });
  const country = memoize(countryOf);

  return (request, server) => {
    const peer = peerOf(request, server);
    if (trustedProxies.length === 0 || !trusts(peer)) return direct(peer);
    const forwarded = request.headers.get("x-forwarded-for");
    if (forwarded === null && ++notForwarded === MANY_NOT_FORWARDED) onNotForwarded?.();
    const address = addressBehind(`${peer}\n${forwarded ?? ""}`);
    return { address, country: country(address) };
  };
}

/**
 * Reads the address of the other end of a connection. Looking it up costs a tenth of a redirect or more, so a server
 * that listens on loopback only skips it.
 */
function peerReader(host: string): (request: Request, server: Bun.Server<unknown>) => string {
  if (/^127\.[\d.]+$/.test(host)) return () => "127.0.0.1";
  if (host === "::1") return () => host;
  if (host === "localhost") return (_request, server) => server.hostname ?? "";
  return (request, server) => server.requestIP(request)?.address ?? "";
}
