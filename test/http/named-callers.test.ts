import { describe, expect, test } from "bun:test";

import { type Handler, createCalls } from "../../src/http/call.ts";
import { createClientReader } from "../../src/http/client.ts";
import { createCreatorCheck } from "../../src/http/credentials.ts";
import { createDomains } from "../../src/http/domain.ts";
import { parseNetwork } from "../../src/lib/client-address.ts";
import { createAccessTokens } from "../../src/moderation/access-tokens.ts";
import { CURT } from "../../src/pages/assets/branding.ts";
import { shareService, startService } from "../support/service.ts";
import { elementsOf, HTML, sendForm } from "./markup.ts";

const LONG = "https://example.com/";
const FEED = "only-for-creating-links";
const BARE = "nobody-has-a-name-here";
const ALICE = "alice-knows-this-secret";
const PROXY = { CREATE_USER_HEADER: "X-Forwarded-User", TRUSTED_PROXIES: "127.0.0.1,::1" };
const DAVE = { "X-Forwarded-User": "dave" };
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

describe("a person whom the proxy names in CREATE_USER_HEADER", () => {
  const curt = shareService({ ...PROXY, CREATE_TOKEN: FEED });
  const create = async (headers: Record<string, string>) => {
    const response = await curt.shorten({ original_url: LONG }, headers);
    return [response.status, response.headers.get("curt-reason")];
  };

  test("creates links with the form and the API without a token, and others don't", async () => {
    expect(await create(DAVE)).toEqual([201, null]);
    expect((await sendForm(curt, "/", { original_url: LONG }, DAVE)).status).toBe(303);
    expect(await create({})).toEqual([401, "token.missing"]);
    expect(await create(bearer(`${FEED}x`))).toEqual([401, "token.wrong"]);
    expect((await sendForm(curt, "/", { original_url: LONG })).status).toBe(401);
    // Some proxies send a token of their own.
    expect(await create({ ...DAVE, ...bearer("eyJhbGciOi.of.the-proxy") })).toEqual([201, null]);
  });

  test("is refused from other sites, and with two names or a wrong one", async () => {
    expect(await create({ ...DAVE, "Sec-Fetch-Site": "cross-site" })).toEqual([403, "cross-site"]);
    expect(await create({ ...DAVE, Origin: "https://evil.example" })).toEqual([403, "cross-site"]);
    expect(await create({ ...DAVE, Origin: "null" })).toEqual([403, "cross-site"]);
    expect(await create({ "X-Forwarded-User": "dave, dave" })).toEqual([403, "user.wrong"]);
    const form = await sendForm(curt, "/", { original_url: LONG }, { "X-Forwarded-User": "d/ave" });
    expect(form.status).toBe(403);
    // A program with a token sends it itself.
    expect(await create({ ...bearer(FEED), Origin: "https://evil.example" })).toEqual([201, null]);
  });

  test("may leave the token's field empty", async () => {
    const fields = await elementsOf(await curt.fetch("/", { headers: HTML }));
    const token = fields.find(({ attributes }) => attributes["name"] === "token");
    expect(token?.attributes).not.toHaveProperty("required");
  });

  test("is nobody without the proxy, and the service stays closed", async () => {
    await using other = await startService({ ...PROXY, TRUSTED_PROXIES: "192.0.2.7" });
    expect((await other.shorten({ original_url: LONG }, DAVE)).status).toBe(401);
    expect((await other.shorten({ original_url: LONG })).status).toBe(401);
  });
});

/** Answers with the name of the caller who may create a link, or with the reason for a refusal. */
async function nameOf(headers: Record<string, string>, isClosed: boolean): Promise<string | undefined> {
  const proxy = parseNetwork("127.0.0.1");
  const check = createCreatorCheck({
    tokens: {
      admin: createAccessTokens([{ name: "alice", secret: ALICE }]),
      create: createAccessTokens(isClosed ? [{ name: "feed", secret: FEED }, { secret: BARE }] : []),
    },
    needsToken: isClosed,
    adminUserHeader: "Remote-User",
    createUserHeader: isClosed ? "X-Forwarded-User" : null,
  });
  const handle: Handler = (call) => {
    const refusal = check(call);
    return Response.json({ name: refusal?.kind ?? call.at(call.domain, "other").by });
  };
  const clientOf = createClientReader({
    host: "0.0.0.0",
    trustedProxies: proxy === undefined ? [] : [proxy],
    countryOf: () => "",
  });
  const [domain] = createDomains({ baseUrl: "https://curt.example", domains: [], codeCase: "match" }, CURT);
  const callOf = createCalls({ domain, clientOf });
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request, bun) => handle(callOf(request, bun, "")),
  });
  try {
    const response = await fetch(server.url, { method: "POST", headers });
    return ((await response.json()) as { name?: string }).name;
  } finally {
    await server.stop(true);
  }
}

describe("the name of a caller who creates a link", () => {
  test.each([
    [bearer(FEED), "feed"],
    [bearer(`feed:${FEED}`), "feed"],
    [bearer(BARE), undefined],
    [{ ...bearer(BARE), "Remote-User": "carol" }, "carol"],
    [DAVE, "dave"],
    [{ ...DAVE, ...bearer(FEED) }, "feed"],
    [bearer(ALICE), "token.wrong"],
    [{ "Remote-User": "carol" }, "token.missing"],
  ])("of a closed service, with %j, is %s", async (headers, name) => {
    expect(await nameOf(headers, true)).toBe(name);
  });

  test.each([
    [{}, undefined],
    [bearer("whatever"), undefined],
    // It would confirm a guess of that token.
    [bearer(ALICE), undefined],
    [{ "Remote-User": "carol" }, "carol"],
    [{ "Remote-User": "carol", "Sec-Fetch-Site": "cross-site" }, undefined],
    [{ "Remote-User": "ca rol" }, undefined],
  ])("of an open service, with %j, is %s", async (headers, name) => {
    expect(await nameOf(headers, false)).toBe(name);
  });
});
