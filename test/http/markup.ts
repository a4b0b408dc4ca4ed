import { expect } from "bun:test";

import { assets } from "../../src/pages/assets/branding.ts";
import type { RunningService } from "../support/service.ts";

/** The Accept header of a browser. */
export const HTML = { Accept: "text/html,application/xhtml+xml" };
/** Part of every hostile input that the tests send, to find it in responses. */
export const MARK = "zq7";

/** Texts that would become elements, attributes, addresses or control characters if a page didn't escape them. */
export const HOSTILE = [
  `<script>${MARK}</script>`,
  `"><img src=x onerror=${MARK}>`,
  `' onfocus='${MARK}`,
  `javascript:${MARK}`,
  `https://example.com/"onmouseover="${MARK}`,
  `https://example.com/</script><b>${MARK}`,
  `naver.com/<b>${MARK}`,
  `</textarea></bdi></li><a href="//${MARK}">`,
  `&lt;b&gt;${MARK}&#60;i&#62;`,
  `{field}\${${MARK}}$&$1`,
];

export interface Element {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Sends a form as a browser does. */
export function sendForm(
  service: Pick<RunningService, "fetch">,
  path: string,
  fields: Readonly<Record<string, string>> | string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const isRaw = typeof fields === "string" || fields instanceof Uint8Array;
  return service.fetch(path, {
    method: "POST",
    headers: { ...HTML, "Content-Type": "application/x-www-form-urlencoded", ...headers },
    body: isRaw ? fields : new URLSearchParams(fields).toString(),
  });
}

/** Parses a page and returns all its elements. */
export async function elementsOf(response: Response): Promise<Element[]> {
  const elements: Element[] = [];
  const collect = (element: HTMLRewriterTypes.Element) => {
    elements.push({ tag: element.tagName, attributes: Object.fromEntries(element.attributes) });
  };
  await new HTMLRewriter().on("*", { element: collect }).transform(response).text();
  return elements;
}

/** Checks the security headers that every HTML page must have, whatever its status. Browsers keep a refused form for Back. */
export function expectGuarded({ headers }: Response, isPublic = false, isKept = isPublic): void {
  const policy = headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'");
  // default-src does not cover these three.
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("form-action 'self'");
  expect(policy).toContain("base-uri 'none'");
  expect(policy).not.toMatch(/unsafe|\*|data:|http/);
  expect(Object.fromEntries(headers)).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": isKept ? "private, no-cache" : "no-store",
    "x-robots-tag": isPublic ? "all" : "noindex",
  });
  expect(headers.get("vary")).toMatch(
    isKept && !isPublic ? /^Accept-Language(?:, Accept-Encoding)?$/ : /Accept-Language, Cookie/,
  );
}

/** Checks that no input became an element, the name of an attribute, or an address that runs a script. */
export function expectInert(elements: readonly Element[]): void {
  for (const { tag, attributes } of elements) {
    expect(tag).not.toMatch(/^(?:b|i|iframe|object|embed|base)$/);
    if (tag === "script") expect(attributes).toEqual({ type: "module", src: assets.script.path });
    if (tag === "img") expect(attributes["src"]).toMatch(/\.svg(?:\?size=\d+&amp;ecc=[lmqh])?$/);
    for (const [name, value] of Object.entries(attributes)) {
      expect(name).not.toMatch(/^on|^style$/);
      if (/^(?:href|src|action|formaction)$/.test(name) && value.includes(MARK))
        expect(value).toMatch(/^(?:\?|\/[^/])/);
    }
  }
  const ids = elements.flatMap(({ attributes }) => attributes["id"] ?? []);
  expect(ids).toEqual([...new Set(ids)]);
}
