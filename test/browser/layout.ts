import type { Page } from "playwright-core";

/**
 * In the page: elements wider than their box, and elements that overlap. Depending on the font, lines of text reach above and
 * below their letters, so they may overlap by `TOUCH` of their height.
 */
const FAULTS = `(() => {
  const TOUCH = 0.3;
  const faults = [];
  const isShortened = (element) => element !== null && (getComputedStyle(element).textOverflow === "ellipsis" || isShortened(element.parentElement));
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) faults.push("scrolls: " + root.scrollWidth);
  // A toast and an open menu lie over the page.
  const shown = [...document.body.querySelectorAll("*")].filter(
    (element) => element.checkVisibility() && element.closest(".skip, .unseen, .setting > .field > :is(label, legend):first-child, .toast, .menu, svg svg *, title") === null,
  );
  for (const element of shown) {
    if (element.matches("input, svg, svg *") || getComputedStyle(element).overflowX === "auto" || isShortened(element)) continue;
    // What overflows it is cut, and so would be the shadows beside its text, which continue the marker's stroke.
    if (element.matches(".address mark") && getComputedStyle(element).boxShadow !== "none") {
      const [box, { left, right }] = [element.closest(".address").getBoundingClientRect(), element.getBoundingClientRect()];
      const shadow = 0.16 * Number.parseFloat(getComputedStyle(element).fontSize);
      if (left - shadow < box.left - 1 || right + shadow > box.right + 1) faults.push("cut: " + element.outerHTML.slice(0, 120));
    }
    if (element.clientWidth > 0 && element.scrollWidth > element.clientWidth + 1)
      faults.push("cut: " + element.outerHTML.slice(0, 120));
  }
  const boxes = shown.flatMap((element) => {
    const texts = [...element.childNodes].filter((node) => node.nodeType === 3 && node.data.trim() !== "" && !isShortened(element));
    const isControl = element.matches("button, .button, img, input:not([type=radio])");
    return [...texts, ...(isControl ? [element] : [])].flatMap((node) => {
      const range = document.createRange();
      range.selectNode(node);
      return [...range.getClientRects()].map((box) => ({ node, box }));
    });
  });
  // From the top, so that each box is only compared with those that start above its end.
  boxes.sort((one, other) => one.box.top - other.box.top);
  boxes.forEach(({ node, box }, nth) => {
    for (let next = nth + 1; next < boxes.length && boxes[next].box.top < box.bottom; next++) {
      const other = boxes[next];
      const width = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
      const height = Math.min(box.bottom, other.box.bottom) - other.box.top;
      if (width <= 1 || height <= TOUCH * Math.min(box.height, other.box.height)) continue;
      if (!node.contains(other.node) && !other.node.contains(node))
        faults.push("over each other: " + [node, other.node].map((one) => (one.data ?? one.outerHTML).slice(0, 60)).join(" | "));
    }
  });
  return faults;
})()`;

/** Descriptions of content that doesn't fit its window, is cut or overlaps. */
export function faultsOf(page: Page): Promise<string[]> {
  return page.evaluate(FAULTS);
}

/**
 * In the page: elements that keep their left side on the left, except those with a direction of their own, such as addresses. The
 * automatic margin above a new link is what its line leaves, which may be some pixels more in the other direction.
 */
const UNMIRRORED = `(() => {
  const root = document.documentElement;
  root.dir = "rtl";
  const elements = [...document.body.querySelectorAll("*")].filter((element) => getComputedStyle(element).direction === "rtl");
  const sidesOf = (element, side) => {
    const style = getComputedStyle(element);
    return ["margin", "padding", "border"].map((part) => style.getPropertyValue(part + "-" + side + (part === "border" ? "-width" : "")));
  };
  root.dir = "ltr";
  const before = elements.map((element) => sidesOf(element, "left"));
  root.dir = "rtl";
  return elements.flatMap((element, nth) => {
    const now = sidesOf(element, "right");
    const same = element.matches(".made > .button") || now.every((value, part) => Math.abs(Number.parseFloat(value) - Number.parseFloat(before[nth][part])) <= 1);
    return same && !/^(left|right)$/.test(getComputedStyle(element).textAlign) ? [] : ["not mirrored: " + element.outerHTML.slice(0, 120)];
  });
})()`;

/** Faults of the page if its language were written from right to left: elements that don't fit or don't change sides. */
export async function mirrorFaultsOf(page: Page): Promise<string[]> {
  const before = await page.evaluate<string>("document.documentElement.dir");
  const unmirrored = await page.evaluate<string[]>(UNMIRRORED);
  const faults = await faultsOf(page);
  await page.evaluate(`document.documentElement.dir = ${JSON.stringify(before)}`);
  return [...unmirrored, ...faults];
}

/** In the page, whose root font has 16 pixels: what differs from the frame that all pages have. */
const UNFRAMED = `(() => {
  const { width } = document.body.getBoundingClientRect();
  const { scrollHeight } = document.documentElement;
  const [header, logo, main, footer] = ["header", "header img", "main", "footer"].map((name) =>
    document.querySelector("body > " + name).getBoundingClientRect());
  const left = Math.max(0, (width - 72 * 16) / 2);
  const expected = {
    header: [left, width - left],
    footer: [left, width - left],
    logo: left + Math.min(20, 0.06 * innerWidth),
    bottom: Math.max(innerHeight, scrollHeight),
    middle: width / 2,
    width: Math.min(width, 72 * 16),
    start: left + Math.min(20, 0.06 * innerWidth),
  };
  const found = {
    header: [header.left, header.right],
    footer: [footer.left, footer.right],
    logo: logo.left,
    bottom: footer.bottom + scrollY,
    middle: (main.left + main.right) / 2,
    width: main.width,
    start: [...document.querySelectorAll("main > *")].find((one) => one.checkVisibility()).getBoundingClientRect().left,
  };
  return Object.keys(expected)
    .filter((name) => [expected[name]].flat().some((value, nth) => Math.abs(value - [found[name]].flat()[nth]) > 1))
    .map((name) => "frame: " + name + " " + found[name]);
})()`;

/** Where the page's logo, header, contents or footer differ from the frame of all pages. */
export function frameFaultsOf(page: Page): Promise<string[]> {
  return page.evaluate(UNFRAMED);
}
