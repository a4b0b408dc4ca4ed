import * as x509 from "@peculiar/x509";

import { type Authority, createAuthority, makePair } from "./certificates.ts";

const ECDSA = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

interface Jwk {
  readonly kty: string;
  readonly crv: string;
  readonly x: string;
  readonly y: string;
}

interface Jws {
  readonly protected: string;
  readonly payload: string;
  readonly signature: string;
}

interface Account {
  readonly jwk: Jwk;
  readonly contact: readonly string[];
}

interface OrderRecord {
  readonly hosts: readonly string[];
  readonly authorizations: readonly number[];
  certificate?: string;
}

interface Authorization {
  readonly host: string;
  readonly token: string;
  readonly thumbprint: string;
  status: "pending" | "valid" | "invalid";
}

/** A certificate authority that speaks ACME (RFC 8555), checks signatures and nonces, and asks HTTP-01 challenges. */
export interface AcmeServer extends AsyncDisposable {
  readonly directory: string;
  /** PEM of the authority that signs its certificates, and that of its own address. */
  readonly root: string;
  /** Every finalized order. */
  readonly issued: readonly (readonly string[])[];
  readonly accounts: readonly Account[];
  /** How many orders were asked for, and how many challenges were checked. */
  readonly counts: { orders: number; checks: number };
  /** How long certificates last from now on, and how much of that is over when they are given. */
  lastMs: number;
  ageMs: number;
  /** Port on this machine where it asks for http:// addresses of every host. */
  httpPort: number;
  /** If set, new orders are refused: 429, and Retry-After in seconds. */
  refusedForSeconds: number | undefined;
  isDown: boolean;
  /** If set, its certificates are for these hosts, whatever was ordered. */
  otherHosts: readonly string[] | undefined;
}

/** Its own address is http:// if `isPlain`, which a client takes that trusts no new authority. */
export async function startAcmeServer({ isPlain = false } = {}): Promise<AcmeServer> {
  const authority: Authority = await createAuthority();
  const own = await makePair(authority, { hosts: ["localhost", "127.0.0.1"] });
  const nonces = new Set<string>();
  const accounts: Account[] = [];
  const orders: OrderRecord[] = [];
  const authorizations: Authorization[] = [];
  const issued: (readonly string[])[] = [];

  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    ...(!isPlain && { tls: { cert: own.cert, key: own.key } }),
    async fetch(request) {
      if (state.isDown) return problem(503, "serverInternal", "closed for today");
      const { pathname } = new URL(request.url);
      const answer =
        request.method === "POST" ? await post(pathname, (await request.json()) as Jws) : get(pathname);
      answer.headers.set("Replay-Nonce", newNonce());
      return answer;
    },
  });
  const at = (path: string) => `${isPlain ? "http" : "https"}://127.0.0.1:${server.port}${path}`;

  function newNonce(): string {
    const nonce = base64url(crypto.getRandomValues(new Uint8Array(16)));
    nonces.add(nonce);
    return nonce;
  }

  function get(path: string): Response {
    if (path === "/nonce") return new Response(null, { headers: { "Cache-Control": "no-store" } });
    if (path !== "/directory") return problem(404, "malformed", path);
    const paths = { newNonce: "/nonce", newAccount: "/account", newOrder: "/order" };
    const resources = Object.entries(paths).map(([name, where]) => [name, at(where)]);
    return Response.json({ ...Object.fromEntries(resources), meta: { termsOfService: at("/terms") } });
  }

  /** Section 6: every request is signed, for this address, with a nonce that was not used before. */
  async function post(path: string, jws: Jws): Promise<Response> {
    const header = JSON.parse(text(jws.protected)) as {
      alg: string;
      nonce: string;
      url: string;
      jwk?: Jwk;
      kid?: string;
    };
    if (header.url !== at(path)) return problem(401, "unauthorized", "signed for another address");
    if (!nonces.delete(header.nonce)) return problem(400, "badNonce", "unknown nonce");
    const number = header.kid === undefined ? -1 : Number(header.kid.split("/").at(-1));
    const jwk = header.jwk ?? accounts[number]?.jwk;
    if (jwk === undefined) return problem(400, "accountDoesNotExist", "no such account");
    if (header.alg !== "ES256" || !(await isSigned(jws, jwk)))
      return problem(401, "unauthorized", "the signature is wrong");
    const payload = jws.payload === "" ? {} : JSON.parse(text(jws.payload));
    if (path === "/account") return account(jwk, payload);
    if (header.kid === undefined) return problem(401, "unauthorized", "an account is needed");
    const [, what = "", id = ""] = path.split("/");
    const index = Number(id);
    // Section 7.3.2: it may change its contacts. Pebble refuses an update of nothing.
    if (what === "account" && index === number)
      return jws.payload === "" || "contact" in payload
        ? Response.json({ status: "valid" })
        : problem(400, "malformed", "an update of nothing");
    if (path === "/order") return newOrder(jwk, payload);
    if (what === "order" && orders[index]) return tellOrder(index);
    if (what === "authorization" && authorizations[index]) return tellAuthorization(index);
    if (what === "challenge" && authorizations[index])
      return jws.payload === "" ? Response.json(challengeOf(index)) : challenge(index);
    if (what === "finalize" && orders[index]) return finalize(index, orders[index], payload);
    const certificate = what === "certificate" ? orders[index]?.certificate : undefined;
    if (certificate === undefined) return problem(404, "malformed", path);
    return new Response(certificate, { headers: { "Content-Type": "application/pem-certificate-chain" } });
  }

  function account(
    jwk: Jwk,
    payload: { contact?: string[]; termsOfServiceAgreed?: boolean; onlyReturnExisting?: boolean },
  ): Response {
    const found = accounts.findIndex((one) => one.jwk.x === jwk.x && one.jwk.y === jwk.y);
    if (found === -1 && payload.onlyReturnExisting)
      return problem(400, "accountDoesNotExist", "no such account");
    if (found === -1 && payload.termsOfServiceAgreed !== true)
      return problem(403, "userActionRequired", "the terms of service were not agreed to");
    if (found === -1) accounts.push({ jwk, contact: payload.contact ?? [] });
    const number = found === -1 ? accounts.length - 1 : found;
    const headers = { Location: at(`/account/${number}`) };
    return Response.json({ status: "valid" }, { status: found === -1 ? 201 : 200, headers });
  }

  async function newOrder(
    jwk: Jwk,
    { identifiers }: { identifiers: { type: string; value: string }[] },
  ): Promise<Response> {
    state.counts.orders++;
    if (state.refusedForSeconds !== undefined)
      return problem(429, "rateLimited", "too many orders", {
        "Retry-After": String(state.refusedForSeconds),
      });
    const hosts = identifiers.map(({ value }) => value);
    const thumbprint = await thumbprintOf(jwk);
    const made = hosts.map((host) => {
      const token = base64url(crypto.getRandomValues(new Uint8Array(32)));
      return authorizations.push({ host, token, thumbprint, status: "pending" }) - 1;
    });
    const number = orders.push({ hosts, authorizations: made }) - 1;
    return tellOrder(number, 201);
  }

  function tellOrder(number: number, status = 200): Response {
    const order = orders[number];
    if (order === undefined) throw new Error("no such order");
    const states = order.authorizations.map((index) => authorizations[index]?.status);
    const ready = states.every((one) => one === "valid") ? "ready" : "pending";
    const failed = states.includes("invalid") ? "invalid" : ready;
    return Response.json(
      {
        status: order.certificate === undefined ? failed : "valid",
        identifiers: order.hosts.map((value) => ({ type: "dns", value })),
        authorizations: order.authorizations.map((index) => at(`/authorization/${index}`)),
        finalize: at(`/finalize/${number}`),
        ...(order.certificate !== undefined && { certificate: at(`/certificate/${number}`) }),
      },
      { status, headers: { Location: at(`/order/${number}`) } },
    );
  }

  function challengeOf(number: number) {
    const { token, status } = authorizations[number] ?? {};
    const error =
      status === "invalid" ? { error: { detail: "the challenge was not answered", status: 403 } } : {};
    return { type: "http-01", url: at(`/challenge/${number}`), token, status, ...error };
  }

  function tellAuthorization(number: number): Response {
    const { host, status } = authorizations[number] ?? {};
    return Response.json({
      status,
      identifier: { type: "dns", value: host },
      challenges: [{ ...challengeOf(number), type: "dns-01" }, challengeOf(number)],
    });
  }

  /** Section 8.3. */
  async function challenge(number: number): Promise<Response> {
    const authorization = authorizations[number];
    if (authorization === undefined) throw new Error("no such authorization");
    state.counts.checks++;
    const { host, token, thumbprint } = authorization;
    const answer = await fetch(`http://127.0.0.1:${state.httpPort}/.well-known/acme-challenge/${token}`, {
      headers: { Host: host },
      redirect: "manual",
    }).catch(() => undefined);
    const isRight = answer?.status === 200 && (await answer.text()).trimEnd() === `${token}.${thumbprint}`;
    authorization.status = isRight ? "valid" : "invalid";
    return Response.json(challengeOf(number));
  }

  async function finalize(number: number, order: OrderRecord, { csr }: { csr: string }): Promise<Response> {
    if (order.authorizations.some((index) => authorizations[index]?.status !== "valid"))
      return problem(403, "orderNotReady", "not every host was checked");
    const request = new x509.Pkcs10CertificateRequest(Buffer.from(csr, "base64url"));
    const extension = request.getExtension("2.5.29.17");
    const names =
      extension === null ? [] : new x509.SubjectAlternativeNameExtension(extension.rawData).names.items;
    const asked = names.map(({ value }) => value);
    if (!(await request.verify()) || asked.toSorted().join() !== order.hosts.toSorted().join())
      return problem(400, "badCSR", "the request for a certificate is wrong");
    const startsMs = Math.floor(Date.now() / 1000) * 1000 - state.ageMs;
    order.certificate = await authority.sign({
      hosts: state.otherHosts ?? order.hosts,
      publicKey: request.publicKey,
      startsMs,
      lastsMs: state.lastMs,
    });
    issued.push(order.hosts);
    return tellOrder(number);
  }

  const state: AcmeServer = {
    directory: at("/directory"),
    root: authority.pem,
    issued,
    accounts,
    counts: { orders: 0, checks: 0 },
    lastMs: 12 * 3_600_000,
    ageMs: 0,
    httpPort: 0,
    refusedForSeconds: undefined,
    isDown: false,
    otherHosts: undefined,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
  return state;
}

function problem(
  status: number,
  type: string,
  detail: string,
  headers: Record<string, string> = {},
): Response {
  return new Response(JSON.stringify({ type: `urn:ietf:params:acme:error:${type}`, detail, status }), {
    status,
    headers: { "Content-Type": "application/problem+json", ...headers },
  });
}

async function isSigned({ protected: header, payload, signature }: Jws, jwk: Jwk): Promise<boolean> {
  const key = await crypto.subtle.importKey("jwk", jwk, ECDSA, false, ["verify"]);
  const signed = Buffer.from(`${header}.${payload}`);
  return crypto.subtle.verify(ECDSA, key, Buffer.from(signature, "base64url"), signed);
}

/** RFC 7638. */
async function thumbprintOf({ crv, kty, x, y }: Jwk): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify({ crv, kty, x, y }));
  return base64url(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}

const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url");
const text = (encoded: string) => Buffer.from(encoded, "base64url").toString();
