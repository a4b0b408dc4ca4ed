import { expect, test } from "bun:test";
import { connect } from "node:net";
import { join } from "node:path";

import { createCalls } from "../../src/http/call.ts";
import type { ClientOf } from "../../src/http/client.ts";
import { createDomains } from "../../src/http/domain.ts";
import { createLimiter } from "../../src/http/limits/limiter.ts";
import { createRefusals } from "../../src/http/limits/refusals.ts";
import { followChanges } from "../../src/links/change-feed.ts";
import { createClock } from "../../src/links/clock.ts";
import { type Code, type LinkKey, splitKey } from "../../src/links/code.ts";
import { createLinks } from "../../src/links/links.ts";
import { isProblem } from "../../src/links/problem.ts";
import { CURT } from "../../src/pages/assets/branding.ts";
import { answerProblem } from "../../src/pages/problem/answer.ts";
import { createProblemCache } from "../../src/pages/problem/problem-cache.ts";
import { createUnknownAnswer } from "../../src/pages/unknown/handler.ts";
import { createLinkCache } from "../../src/redirect/link-cache.ts";
import { createRedirect, createRedirectFigures } from "../../src/redirect/redirect.ts";
import { storeOf } from "../../src/server/domain-store.ts";
import type { Store } from "../../src/store/open.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { newLink } from "../stores/links.ts";
import { BASE_URL, temporaryFolder } from "../support/service.ts";

const SLOW_MS = 50;
const MAX_TRIES = 10_000;

const ELSEWHERE = 418;

/** Serves redirects from a real store, but delays its results, as a database on another machine would. */
async function serve(folder: string, record = () => {}) {
  const near = await openSqliteStore(join(folder, "curt.db"));
  let queries = 0;
  let delay: () => Promise<unknown> = () => Bun.sleep(SLOW_MS);
  const recorded: string[] = [];
  const distant: Store = {
    ...near,
    async find(code) {
      queries++;
      const link = await near.find(code);
      await delay();
      return link;
    },
    findNow: undefined,
  };
  const clock = createClock(Date.now, () => performance.now());
  const links = createLinks({
    store: storeOf(distant, ""),
    keyPrefix: "",
    clock,
    fillRandom: (bytes) => void crypto.getRandomValues(bytes),
    targetPolicy: { posture: "private", ownHosts: [], ownPorts: [], isShortener: () => false },
    defaultExpiry: "never",
    edits: "on",
    codeCase: "match" as const,
    pathsNeedName: false,
    codeLength: 7,
    codeHoldMs: 0,
    blocked: () => undefined,
    onCreated: () => {},
    onRefused: () => {},
  });
  const linkCache = createLinkCache(links, clock);
  const faults: unknown[] = [];
  const clientOf: ClientOf = (request, connection) => ({
    address: connection.requestIP(request)?.address ?? "",
    country: "",
  });
  const counters = { count: () => {} };
  const limiter = createLimiter({}, createRefusals({}, clock, counters), counters, answerProblem);
  const onFault = (error: unknown) => void faults.push(error);
  const redirect = createRedirect({
    codeCase: "match",
    linkCache,
    clock,
    recorder: {
      record(_link, visit) {
        recorded.push(visit.client().address);
        record();
      },
    },
    callOf: createCalls({
      domain: createDomains({ baseUrl: BASE_URL, domains: [], codeCase: "match" }, CURT)[0],
      clientOf,
    }),
    limiter,
    answerUnknown: createUnknownAnswer({
      exists: linkCache.exists,
      limiter,
      overload: { takeTurns: (_what, call, start) => start(call) },
      cachedProblem: createProblemCache(),
      showNearest: () => undefined,
      onFault,
    }),
    cacheSeconds: 0,
    interstitial: undefined,
    gate: {
      get: () => Promise.reject(new Error("no link is guarded")),
      head: () => Promise.reject(new Error("no link is guarded")),
    },
    pages: new Set(),
    elsewhere: () => new Response(null, { status: ELSEWHERE }),
    figures: createRedirectFigures(),
    onFault,
  });
  const routes = { "/:code": redirect };
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, routes, fetch: () => new Response() });
  const visit = async (code: string, method = "GET") =>
    (await fetch(`http://127.0.0.1:${server.port}/${code}`, { method, redirect: "manual" })).status;
  return {
    store: near,
    linkCache,
    visit,
    port: server.port ?? 0,
    counts: () => ({ queries, recorded: recorded.length, faults }),
    recorded,
    /** Resolves when the store has read the link. Its result is in flight until the function that it resolves with is called. */
    async holdUp(send: () => void) {
      const { promise, resolve: release } = Promise.withResolvers<void>();
      const before = queries;
      delay = () => promise;
      send();
      await until(() => queries > before);
      delay = () => Bun.sleep(SLOW_MS);
      return release;
    },
    /** Resolves when so many requests wait for their response. */
    pending: (requests: number) => until(() => server.pendingRequests === requests),
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await near.close();
    },
  };
}

async function until(isSo: () => boolean): Promise<void> {
  for (let tries = 0; !isSo(); tries++) {
    expect(tries).toBeLessThan(MAX_TRIES);
    await Bun.sleep(1);
  }
}

test("concurrent requests for one link query the store once, and each is counted", async () => {
  using folder = temporaryFolder();
  await using service = await serve(folder.path);
  await service.store.insert([newLink("wanted")]);
  const statuses = await Promise.all(Array.from({ length: 100 }, () => service.visit("wanted")));
  expect(new Set(statuses)).toEqual(new Set([302]));
  expect(service.counts()).toEqual({ queries: 1, recorded: 100, faults: [] });
});

test("concurrent requests for an unknown code query the store a few times only", async () => {
  using folder = temporaryFolder();
  await using service = await serve(folder.path);
  const visits: Promise<number>[] = [];
  const visit = () => void visits.push(service.visit("missing"));
  const release = await service.holdUp(visit);
  for (let nth = 1; nth < 100; nth++) visit();
  await service.pending(100);
  release();
  expect(new Set(await Promise.all(visits))).toEqual(new Set([404]));
  const { queries, recorded } = service.counts();
  // As many for each of its two other capitals.
  expect(queries).toBeLessThanOrEqual(9);
  expect(recorded).toBe(0);
});

test("a new link is found even while an earlier query for its code is still running", async () => {
  using folder = temporaryFolder();
  await using service = await serve(folder.path);
  let before: Promise<number> | undefined;
  const release = await service.holdUp(() => void (before = service.visit("new")));
  await service.store.insert([newLink("new")]);
  const after = service.visit("new");
  await service.pending(2);
  release();
  expect(await after).toBe(302);
  expect(await before).toBe(404);
});

test("the result of a query from before a change is neither cached nor shared after it", async () => {
  using folder = temporaryFolder();
  await using service = await serve(folder.path);
  const { store, linkCache, visit } = service;
  const link = newLink("changing");
  await store.insert([link]);
  const { forgetAll } = linkCache;
  const memory = { forget: (key: LinkKey) => linkCache.forget(splitKey(key).code), forgetAll };
  const changes = await followChanges(store, memory, async () => {});
  let before: Promise<number> | undefined;
  const release = await service.holdUp(() => void (before = visit("changing")));
  await store.update(link, { type: "withdraw", atMs: link.createdMs + 1 });
  await changes.read();
  expect(await visit("changing")).toBe(404);
  release();
  expect(await before).toBe(302);
  expect(await visit("changing")).toBe(404);
});

test("visitors are redirected even if counting fails", async () => {
  using folder = temporaryFolder();
  await using service = await serve(folder.path, () => {
    throw new Error("planted");
  });
  await service.store.insert([newLink("anyway")]);
  expect([await service.visit("anyway"), await service.visit("anyway")]).toEqual([302, 302]);
  expect(service.counts().faults).toHaveLength(2);
});

test("a visitor who hangs up during the query is counted with their address", async () => {
  using folder = temporaryFolder();
  await using service = await serve(folder.path);
  await service.store.insert([newLink("hasty")]);
  const socket = connect(service.port, "127.0.0.1");
  const release = await service.holdUp(() => socket.write("GET /hasty HTTP/1.1\r\nHost: x\r\n\r\n"));
  socket.resetAndDestroy();
  await service.pending(0);
  release();
  await until(() => service.recorded.length > 0);
  expect(service.recorded).toEqual(["127.0.0.1"]);
});

test("a path that can't be a code goes to the other routes without querying the store", async () => {
  using folder = temporaryFolder();
  await using service = await serve(folder.path);
  for (const code of ["abc+", "abc%2b", "abc.svg", "%ED%95%9C%2Esvg", ".env", "한글.png"]) {
    for (const method of ["GET", "HEAD"]) expect(await service.visit(code, method), code).toEqual(ELSEWHERE);
  }
  expect(service.counts()).toEqual({ queries: 0, recorded: 0, faults: [] });
});

test("a link with terms is found but not cached, and an unknown code is a problem", async () => {
  using folder = temporaryFolder();
  await using service = await serve(folder.path);
  const link = newLink("limited", { terms: { maxVisits: 1 } });
  await service.store.insert([link, newLink("plain")]);
  const codes = ["limited", "plain", "missing"] as Code[];
  const results = await Promise.all(codes.map(async (code) => service.linkCache.lookUp(code)));
  expect(results.map(isProblem)).toEqual([false, false, true]);
  expect(service.linkCache.size()).toBe(1);
});
