import { describe, expect, test } from "bun:test";

import { parametersOf, queryOf } from "../../src/http/url.ts";
import { MAX_PAIRS } from "../../src/lib/bounds.ts";

/** A query with this many parameters. The last one is known. */
const queryWith = (pairs: number) => `?${"a&".repeat(pairs - 1)}language=ko`;
const requestWith = (pairs: number) => new Request(`http://host/x${queryWith(pairs)}`);

describe("a query", () => {
  test("has up to a hundred parameters", () => {
    expect(queryOf(requestWith(MAX_PAIRS))).toBe(queryWith(MAX_PAIRS));
    expect(parametersOf(requestWith(MAX_PAIRS)).get("language")).toBe("ko");
  });

  test("counts as absent with more of them", () => {
    expect(queryOf(requestWith(MAX_PAIRS + 1))).toBe("");
    expect([...parametersOf(requestWith(MAX_PAIRS + 1))]).toEqual([]);
  });
});
