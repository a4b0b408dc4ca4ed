import { expect, test } from "bun:test";

import { Hono } from "hono";

import { readRoute, spelledOut } from "../../src/server/router.ts";

/** Registers routes in Hono. Returns a function that finds the route and the code of a path. */
function createMatcher(...routes: string[]) {
  const app = new Hono({ getPath: ({ url }) => spelledOut(new URL(url).pathname) });
  for (const path of routes) {
    const { patterns, codeIn } = readRoute(path);
    for (const pattern of patterns)
      app.get(pattern, ({ req, json }) => json([path, codeIn(req.param("code"))]));
  }
  app.notFound(({ json }) => json(undefined, 404));
  return async (path: string): Promise<unknown> => {
    const response = await app.request(`http://localhost${path}`);
    return response.status === 404 ? undefined : response.json();
  };
}

test("a route matches with and without a trailing slash, and extracts the code", async () => {
  const find = createMatcher(
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

test("a route doesn't match paths that only resemble it", async () => {
  const find = createMatcher("/{code}.svg", "/{code}+");
  for (const path of "/abc /.svg /+ /a.b.svg /a+b+ /abc.svg+ /abcxsvg /abc.png /a/b+".split(" "))
    expect(await find(path), path).toEqual(undefined);
});

test("a route is fixed exactly if it has no code", () => {
  const fixed = ["/", "/docs", "/{code}+", "/api/links/{code}/stats"].filter(
    (path) => readRoute(path).isFixed,
  );
  expect(fixed).toEqual(["/", "/docs"]);
});
