import { describe, expect, test } from "bun:test";

import { parsePath, withPath } from "../../src/links/terms/passed-path.ts";
import { FOLDER, HARMLESS_PATHS, hostilePaths } from "./hostile-paths.ts";

const WIKI = "https://d.example/wiki";

const forward = (target: string, written: string) => {
  const path = parsePath(written);
  return path === undefined ? undefined : withPath(target, path);
};

describe("a path after the code", () => {
  test.each([
    ["nothing", "", WIKI, WIKI],
    ["only a slash", "/", WIKI, WIKI],
    ["only a slash, for a destination with one", "/", `${WIKI}/`, `${WIKI}/`],
    ["a segment", "/a", WIKI, `${WIKI}/a`],
    ["a segment, for a destination with a slash", "/a", `${WIKI}/`, `${WIKI}/a`],
    ["a path with a slash at its end", "/a/b/", WIKI, `${WIKI}/a/b/`],
    ["a path, for a host", "/a/b", "https://d.example/", "https://d.example/a/b"],
    ["an encoded slash", "/a%2fb", WIKI, `${WIKI}/a%2fb`],
    ["an address", "/http://h", WIKI, `${WIKI}/http://h`],
    ["an at sign", "/@x", WIKI, `${WIKI}/@x`],
    ["a parameter", "/;x=1", WIKI, `${WIKI}/;x=1`],
    ["an encoded question mark", "/a%3fb", WIKI, `${WIKI}/a%3fb`],
    ["letters beyond ASCII", "/한글", WIKI, `${WIKI}/%ED%95%9C%EA%B8%80`],
    ["bytes that aren't UTF-8", "/%E9%zz", WIKI, `${WIKI}/%E9%zz`],
    ["dots that lead nowhere", "/a..b/...", WIKI, `${WIKI}/a..b/...`],
    ["the folder itself", "/./a", WIKI, `${WIKI}/a`],
    ["a preview's suffix", "/a+", WIKI, `${WIKI}/a+`],
    ["a destination's query and fragment", "/a", `${WIKI}?q=1#f`, `${WIKI}/a?q=1#f`],
    ["a destination's file", "/a", `${WIKI}/index.html`, `${WIKI}/index.html/a`],
    ["a place in the query", "/C++&x=1", `${WIKI}?q={path}`, `${WIKI}?q=C%2B%2B%26x%3D1`],
    ["encoded letters in the query", "/a%26b'%", `${WIKI}?q={path}#z`, `${WIKI}?q=a%26b%27%25#z`],
    ["a place in the fragment", "/a/b", `${WIKI}#/{path}`, `${WIKI}#/a/b`],
    ["a place in the path", "/42", `${WIKI}/%7Bpath%7D/edit`, `${WIKI}/42/edit`],
    ["nothing, at a place in the path", "", `${WIKI}/%7Bpath%7D/edit`, `${WIKI}/edit`],
    ["a slash at its end, at a place in the path", "/4/2/", `${WIKI}/%7Bpath%7D/edit`, `${WIKI}/4/2/edit`],
    ["a place inside a segment", "/42", `${WIKI}/issue-%7Bpath%7D`, `${WIKI}/issue-42`],
    ["several places", "/4", `${WIKI}/%7Bpath%7D?a={path}#{path}`, `${WIKI}/4?a=4#4`],
    ["a replacement's dollar signs", "/$&$1", `${WIKI}/%7Bpath%7D?a={path}`, `${WIKI}/$&$1?a=%24%26%241`],
  ])("takes %s", (_what, path, target, destination) => {
    expect(forward(target, path)).toBe(destination);
  });

  test("may be so long that the destination has 16,384 characters, and is never cut", () => {
    const target = `https://d.example/${"p".repeat(8000)}`;
    const room = 16_384 - target.length;
    expect(withPath(target, `/${"a".repeat(room - 1)}`)?.length).toBe(16_384);
    expect(withPath(target, `/${"a".repeat(room)}`)).toBeUndefined();
  });

  test("can't complete a destination's dots", () => {
    for (const target of [
      "https://d.example/a/.%7Bpath%7D/b",
      "https://d.example/a/%7Bpath%7D.",
      "https://d.example/a/.%7Bpath%7D.",
    ])
      for (const path of ["/%252e", "/%2e;", ""]) {
        const destination = forward(target, path);
        if (destination !== undefined) expect(new URL(destination).pathname).toStartWith("/a/");
      }
    expect(forward("https://d.example/a/.%7Bpath%7D/b", "/%252e")).toBeUndefined();
  });

  test("is refused if it could lead out of the destination's folder on any server", () => {
    const paths = hostilePaths();
    expect(paths.length).toBeGreaterThan(2000);
    for (const path of paths)
      for (const target of [FOLDER, `${FOLDER}/%7Bpath%7D`, `${FOLDER}?q={path}`])
        expect(forward(target, path), path).toBeUndefined();
  });

  test("is passed on if it only looks as if it did", () => {
    for (const path of HARMLESS_PATHS)
      expect(forward(FOLDER, path), path).toBe(new URL(FOLDER).href + new URL(path, "http://host").pathname);
  });

  test("is refused without much work if it is encoded thousands of times", () => {
    for (const path of [`/%${"25".repeat(2000)}2e`, `/${"%25".repeat(1500)}`, `/${"%2525".repeat(900)}`])
      expect([undefined, `${WIKI}${path}`]).toContain(forward(WIKI, path) as string);
  });
});
