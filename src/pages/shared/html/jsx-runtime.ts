// The JSX runtime (`@jsxImportSource`). Each element becomes text immediately: our pages wait for nothing and are
// rendered once, so they need no tree. The output equals hono/jsx, in a fraction of its time (decision 4).

/** Escaped text of a page. */
export class Html {
  constructor(readonly text: string) {}
}

export type Child = string | number | boolean | null | undefined | Html | readonly Child[];

type Value = string | number | boolean | null | undefined;

// eslint-disable-next-line typescript/no-namespace -- TypeScript looks for these names.
export declare namespace JSX {
  type Element = Html;
  type ElementType = string | ((props: never) => Child);
  interface ElementChildrenAttribute {
    children: Child;
  }
  interface IntrinsicElements {
    [tag: string]: { readonly [attribute: string]: Value | Child };
  }
}

type Component = (props: object) => Child;

/** Elements without content and end tag (HTML, section 13.1.2). */
const VOID: ReadonlySet<string> = new Set(["br", "hr", "img", "input", "link", "meta", "wbr"]);
/** Attributes whose presence means true. Others, such as aria-expanded, spell it out. */
const PRESENT: ReadonlySet<string> = new Set(
  "async autofocus checked defer disabled download hidden novalidate open readonly required selected".split(
    " ",
  ),
);

/** Their Japanese lines break between phrases only, in every browser: the style has `keep-all` for them. */
const TITLES: ReadonlySet<string> = new Set(["h1", "h2", "h3"]);
/** After a particle or the end of a verb, before the next word. */
const PHRASE_END = /(?<=[うがたでとにのはへもるをて、。])(?=[\p{sc=Han}\p{sc=Katakana}\p{sc=Latin}「])/u;

export function jsx(tag: string | Component, props: Readonly<Record<string, unknown>>): Html {
  if (typeof tag === "function") return new Html(write(tag(props)));
  let text = `<${tag}`;
  for (const name in props) {
    if (name !== "children") text += writeAttribute(name, props[name] as Value);
  }
  if (VOID.has(tag)) return new Html(`${text}/>`);
  const children = props["children"] as Child;
  return new Html(`${text}>${write(TITLES.has(tag) ? withBreaks(children) : children)}</${tag}>`);
}

export { jsx as jsxs };

export function Fragment({ children }: { readonly children?: Child }): Child {
  return children;
}

function withBreaks(child: Child): Child {
  if (typeof child !== "string") return Array.isArray(child) ? child.map(withBreaks) : child;
  return child.split(PHRASE_END).map((phrase, nth) => (nth === 0 ? phrase : [BREAK, phrase]));
}

const BREAK = new Html("<wbr/>");

/** The escaped text of a child. */
export function write(child: Child): string {
  if (typeof child === "string") return escape(child);
  if (child instanceof Html) return child.text;
  if (typeof child === "number") return String(child);
  if (child === null || typeof child !== "object") return "";
  let text = "";
  for (const one of child) text += write(one);
  return text;
}

/** Attribute names come from our source, never from a request. */
function writeAttribute(name: string, value: Value): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "boolean" && PRESENT.has(name)) return value ? ` ${name}=""` : "";
  return ` ${name}="${typeof value === "string" ? escape(value) : value}"`;
}

/** For text and quote attribute values. Spells apostrophes as HTML 4 does. */
export function escape(text: string): string {
  const escaped = Bun.escapeHTML(text);
  return text.includes("'") ? escaped.replaceAll("&#x27;", "&#39;") : escaped;
}
