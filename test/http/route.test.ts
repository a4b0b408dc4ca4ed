import { expect, test } from "bun:test";

import { createPaths } from "../../src/server/router.ts";

/** Returns a function that finds the path and the code of an address. */
function finder(...templates: string[]) {
  const find = createPaths(
    templates.map((template) => ({ at: `GET ${template}`, handle: () => new Response() })),
  );
  return (path: string) => {
    const [match] = find(path, "GET");
    return match && [match.path.template, match.code];
  };
}

const find = finder(
  "/",
  "/docs",
  "/api/links/batch",
  "/api/links/{code}",
  "/api/links/{code}/stats",
  "/{code}",
  "/{code}.svg",
  "/{code}+",
);

test.each([
  ["/", "/", ""],
  ["/docs", "/docs", ""],
  ["/docs/", "/docs", ""],
  ["/api/links/batch", "/api/links/batch", ""],
  ["/api/links/abc", "/api/links/{code}", "abc"],
  ["/api/links/abc/", "/api/links/{code}", "abc"],
  ["/api/links/a.b+", "/api/links/{code}", "a.b+"],
  ["/api/links/abc/stats", "/api/links/{code}/stats", "abc"],
  ["/abc", "/{code}", "abc"],
  ["/abc.svg", "/{code}.svg", "abc"],
  ["/abc.svg/", "/{code}.svg", "abc"],
  ["/%ED%95%9C%EA%B8%80.svg", "/{code}.svg", "한글"],
  ["/abc+", "/{code}+", "abc"],
  ["/%23+", "/{code}+", "#"],
])("%s has the path %s and the code %s", (path, template, code) => {
  expect(find(path)).toEqual([template, code]);
});

test.each([
  "/abc",
  "/.svg",
  "/+",
  "/a.b.svg",
  "/a+b+",
  "/abc.svg+",
  "/abcxsvg",
  "/abc.png",
  "/a/b+",
  "//",
  "",
])("%s has no path with a suffix", (path) => {
  expect(finder("/{code}.svg", "/{code}+")(path)).toBeUndefined();
});

test("a path with the method comes before one without a code", () => {
  const paths = createPaths(
    ["POST /links/batch", "GET /links/{code}"].map((at) => ({ at, handle: () => new Response() })),
  );
  const templates = (method: string) => paths("/links/batch", method).map(({ path }) => path.template);
  expect(templates("POST")).toEqual(["/links/batch"]);
  expect(templates("GET")).toEqual(["/links/{code}", "/links/batch"]);
  expect(templates("PUT")).toEqual(["/links/batch", "/links/{code}"]);
});
