import { expect } from "bun:test";

import { assets } from "../../src/pages/assets/assets.ts";

/** What a browser asks with. */
export const HTML = { Accept: "text/html,application/xhtml+xml" };
/** In everything hostile that the tests send. */
export const MARK = "zq7";

export interface Element {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Every element of a page, as a parser sees them. */
export async function elementsOf(response: Response): Promise<Element[]> {
  const elements: Element[] = [];
  const collect = (found: HTMLRewriterTypes.Element) => {
    elements.push({ tag: found.tagName, attributes: Object.fromEntries(found.attributes) });
  };
  await new HTMLRewriter().on("*", { element: collect }).transform(response).text();
  return elements;
}

/** Of a page for people, whatever its status. */
export function expectGuarded({ headers }: Response, isPublic = false): void {
  const policy = headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'");
  // Of these three the default says nothing.
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("form-action 'self'");
  expect(policy).toContain("base-uri 'none'");
  expect(policy).not.toMatch(/unsafe|\*|data:|http/);
  expect(Object.fromEntries(headers)).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": isPublic ? "private, no-cache" : "no-store",
    "x-robots-tag": isPublic ? "all" : "noindex",
  });
  expect(headers.get("vary")).toMatch(/Accept-Language, Cookie/);
}

/** Nothing that was sent became an element, an attribute's name, or an address that runs. */
export function expectInert(elements: readonly Element[]): void {
  for (const { tag, attributes } of elements) {
    expect(tag).not.toMatch(/^(?:b|i|iframe|object|embed|base)$/);
    if (tag === "script") expect(attributes).toEqual({ type: "module", src: assets.script.path });
    if (tag === "img") expect(attributes["src"]).toEndWith(".svg");
    for (const [name, value] of Object.entries(attributes)) {
      expect(name).not.toMatch(/^on|^style$/);
      if (/^(?:href|src|action|formaction)$/.test(name) && value.includes(MARK))
        expect(value).toMatch(/^(?:\?|\/[^/])/);
    }
  }
  const ids = elements.flatMap(({ attributes }) => attributes["id"] ?? []);
  expect(ids).toEqual([...new Set(ids)]);
}
