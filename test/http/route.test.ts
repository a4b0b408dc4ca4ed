import { expect, test } from "bun:test";

import { Hono } from "hono";

import { readRoute, spelledOut } from "../../src/server/router.ts";

/** Registers routes in Hono. Returns a function that tells the code which each route finds in an address. */
function matcher(...routes: string[]) {
  const app = new Hono({ getPath: ({ url }) => spelledOut(new URL(url).pathname) });
  for (const path of routes) {
    const { patterns, codeIn } = readRoute(path);
    for (const pattern of patterns)
      app.get(pattern, ({ req, json }) => json([path, codeIn(req.param("code"))]));
  }
  app.notFound(({ json }) => json(undefined, 404));
  return async (path: string): Promise<unknown> => {
    const answer = await app.request(`http://localhost${path}`);
    return answer.status === 404 ? undefined : answer.json();
  };
}

test("a route is found with and without a slash, and gets the code alone", async () => {
  const find = matcher(
    "/",
    "/docs",
    "/api/links/{code}",
    "/api/links/{code}/stats",
    "/{code}.svg",
    "/{code}+",
  );
  for (const [path, route, code] of [
    ["/", "/", ""],
    ["/docs", "/docs", ""],
    ["/docs/", "/docs", ""],
    ["/api/links/abc", "/api/links/{code}", "abc"],
    ["/api/links/abc/", "/api/links/{code}", "abc"],
    ["/api/links/a.b+", "/api/links/{code}", "a.b+"],
    ["/api/links/abc/stats", "/api/links/{code}/stats", "abc"],
    ["/abc.svg", "/{code}.svg", "abc"],
    ["/abc.svg/", "/{code}.svg", "abc"],
    ["/abc%2Esvg", "/{code}.svg", "abc"],
    ["/%ED%95%9C%EA%B8%80.svg", "/{code}.svg", "한글"],
    ["/abc+", "/{code}+", "abc"],
    ["/abc%2b/", "/{code}+", "abc"],
    ["/%23+", "/{code}+", "#"],
  ] as const)
    expect(await find(path), path).toEqual([route, code]);
});

test("paths that only resemble a route do not match", async () => {
  const find = matcher("/{code}.svg", "/{code}+");
  for (const path of [
    "/abc",
    "/.svg",
    "/+",
    "/a.b.svg",
    "/a+b+",
    "/abc.svg+",
    "/abcxsvg",
    "/abc.png",
    "/a/b+",
  ])
    expect(await find(path), path).toEqual(undefined);
});

test("a route without a code is one address", () => {
  const fixed = ["/", "/docs", "/{code}+", "/api/links/{code}/stats"].filter(
    (path) => readRoute(path).isFixed,
  );
  expect(fixed).toEqual(["/", "/docs"]);
});
