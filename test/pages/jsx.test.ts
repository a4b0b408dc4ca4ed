import { expect, test } from "bun:test";

import * as fc from "fast-check";
import { jsxDEV as honoJsx, Fragment as HonoFragment } from "hono/jsx/jsx-dev-runtime";

import { Fragment, jsx, write } from "../../src/pages/shared/html/jsx-runtime.ts";

/** A tree of elements, for either runtime. */
interface Tree {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string | number | boolean | null | undefined>>;
  readonly children: readonly (Tree | string | number | boolean | null | undefined)[];
}

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: fc.constantFrom("<", ">", "&", '"', "'", "a", "한", "&#x27;") }),
);
const value = fc.oneof(text, fc.integer(), fc.double(), fc.boolean(), fc.constantFrom(null, undefined));
const attributes = fc.dictionary(
  fc.constantFrom(
    "class",
    "href",
    "hidden",
    "open",
    "aria-current",
    "data-copy",
    "tabindex",
    "required",
    "for",
  ),
  value,
);
const leaf = fc.oneof(text, fc.integer(), fc.boolean(), fc.constantFrom(null, undefined));
const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    fc.record({
      tag: fc.constantFrom("br", "input", "wbr", "img"),
      attributes,
      children: fc.constant([]),
    }),
    fc.record({
      tag: fc.constantFrom("p", "bdi", "time", "td", "fragment", "component"),
      attributes,
      children: fc.array(fc.oneof(leaf, tie("tree")), { maxLength: 4 }),
    }),
  ),
}));

type CreateElement = (tag: any, props: any, key?: any) => any;

/** Builds the tree as compiled JSX does: one child stands alone, several are an array. */
function build(
  { tag, attributes: given, children }: Tree,
  create: CreateElement,
  fragment: unknown,
): unknown {
  const built = children.map((child) =>
    typeof child === "object" && child !== null ? build(child, create, fragment) : child,
  );
  const props = built.length === 0 ? {} : { children: built.length === 1 ? built[0] : built };
  if (tag === "fragment") return create(fragment, props);
  if (tag === "component")
    return create((received: { children?: unknown }) => create("b", { title: "c", ...received }), props);
  return create(tag, { ...given, ...props });
}

test("every tree is rendered as hono/jsx renders it", () => {
  fc.assert(
    fc.property(tree, (one) => {
      const ours = write(build(one, jsx as CreateElement, Fragment) as never);
      const theirs = String(
        build({ tag: "main", attributes: {}, children: [one] }, honoJsx as CreateElement, HonoFragment),
      );
      expect(`<main>${ours}</main>`).toBe(theirs);
    }),
    { numRuns: 500 },
  );
});

test("Japanese titles may break between phrases only", () => {
  const title = "このリンクにはパスワードが必要です";
  const phrases = "この<wbr/>リンクには<wbr/>パスワードが<wbr/>必要です";
  expect(write(jsx("h1", { children: title }))).toBe(`<h1>${phrases}</h1>`);
  expect(write(jsx("h2", { children: [title, "!"] }))).toBe(`<h2>${phrases}!</h2>`);
  expect(write(jsx("p", { children: title }))).toBe(`<p>${title}</p>`);
});
