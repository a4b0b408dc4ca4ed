import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { Page } from "playwright-core";

import { InlineQrSheet } from "../../src/pages/qr/qr-code.tsx";
import { addGuarded } from "../support/guarded-links.ts";
import { BASE_URL, shareService } from "../support/service.ts";
import {
  chooseLanguage,
  openPage,
  LAPTOP,
  openBrowser,
  PHONE,
  readers,
  stopTime,
  wordsOf,
} from "./browser.ts";
import { scan } from "./scan.ts";

/** As long as a code can be. */
const HANGUL = "가나다라마바사아자차카타파하거너".repeat(4);
const FAMILY = "👨‍👩‍👧‍👦";
const CODES = ["abc", HANGUL, FAMILY];
const DESTINATION = `https://www.${"long-host-name.".repeat(4)}example.co.kr/secret?path`;

const curt = shareService();
/** A page without a policy, which would block pictures. */
let blank: Page;
beforeAll(async () => {
  blank = await (await openBrowser()).newPage();
  for (const custom_code of CODES)
    expect((await curt.shorten({ original_url: DESTINATION, custom_code })).status).toBe(201);
});
afterAll(() => blank.close());

function addressOf(code: string): string {
  return `${BASE_URL}/${encodeURIComponent(code)}`;
}

function pathOf(code: string, suffix: string): string {
  return `/${encodeURIComponent(code)}${suffix}`;
}

/** The picture, with what is around it. */
const pictureOf = (page: Page) => page.locator("figure > :has(img, svg)");

/** A loaded image isn't painted yet. Hidden ones may never load. */
const DECODE_IMAGES =
  "Promise.all([...document.images].filter((image) => image.checkVisibility()).map((image) => image.decode()))";

/** The first one has the fewest pixels per module. Dark mode darkens the surroundings of the picture, never its modules. */
const CAMERAS = readers([
  { where: "on a laptop", viewport: LAPTOP, deviceScaleFactor: 1, colorScheme: "dark" },
  { where: "on a laptop", viewport: LAPTOP, deviceScaleFactor: 1, colorScheme: "light" },
  { where: "on a sharp laptop", viewport: LAPTOP, deviceScaleFactor: 2, colorScheme: "dark" },
  { where: "on a sharp laptop", viewport: LAPTOP, deviceScaleFactor: 2, colorScheme: "light" },
  { where: "on a phone", viewport: PHONE, deviceScaleFactor: 2, colorScheme: "dark" },
  { where: "on a phone", viewport: PHONE, deviceScaleFactor: 2, colorScheme: "light" },
] as const);

test.each(CAMERAS)("a camera reads the code $where, in $colorScheme mode", async (options) => {
  await using page = await openPage(curt.origin, options);
  for (const [code, suffix] of [
    ...CODES.map((each) => [each, "+qr"] as const),
    [HANGUL, "+qr?ecc=h"],
    [HANGUL, "+qr?ecc=l"],
    ["abc", "+qr?margin=0"],
    ["abc", "+qr?margin=2"],
  ] as const) {
    await page.goto(pathOf(code, suffix));
    await page.evaluate(DECODE_IMAGES);
    expect([code, suffix, await scan(blank, pictureOf(page))]).toEqual([code, suffix, addressOf(code)]);
  }
});

test("a camera reads the code in custom colours", async () => {
  await using page = await openPage(curt.origin, { viewport: LAPTOP, colorScheme: "dark" });
  for (const query of [
    "dark=7a1f3d&light=fff4e0",
    "dark=003366&light=ffff00&ecc=m",
    // A contrast of 4.54:1, just enough to avoid a warning.
    "dark=767676",
  ]) {
    await page.goto(pathOf("abc", `+qr?${query}`));
    expect([query, await scan(blank, pictureOf(page))]).toEqual([query, addressOf("abc")]);
  }
});

test("a page draws a code itself if its images aren't served", async () => {
  await using page = await openPage(curt.origin);
  for (const code of CODES) {
    const { text } = InlineQrSheet({
      language: "en",
      shortUrl: `${BASE_URL}/${code}`,
      destination: undefined,
    });
    await page.setContent(text);
    expect(await scan(blank, page)).toBe(addressOf(code));
  }
});

describe("a printed page", () => {
  test("is one sheet with the name, the address, the QR code and the destination's host, and nothing else", async () => {
    await using page = await openPage(curt.origin, {
      colorScheme: "dark",
      viewport: { width: 680, height: 1000 },
    });
    await page.emulateMedia({ media: "print" });
    for (const [code, suffix] of [
      ["abc", "+qr"],
      [HANGUL, "+qr"],
      [FAMILY, "+qr"],
    ] as const) {
      await page.goto(pathOf(code, suffix));
      expect(await page.locator("body").innerText()).toMatch(
        new RegExp(
          `^\\s*Curt\\s*curt\\.example/${code}\\s*Destination: ${RegExp.escape(new URL(DESTINATION).host)}\\s*$`,
        ),
      );
      expect(await scan(blank, page)).toBe(addressOf(code));
      for (const format of ["A4", "Letter"])
        expect([code, format, await pagesOf(page, format)]).toEqual([code, format, 1]);
    }
  });

  test("omits the destination of a link with a password, and shows its main part if it has no QR code", async () => {
    await addGuarded(curt, "closed", { password: "word", target: DESTINATION });
    await using page = await openPage(curt.origin);
    await page.emulateMedia({ media: "print" });
    await page.goto("/closed+qr");
    expect(await page.locator("body").innerText()).toMatch(/^\s*Curt\s*curt\.example\/closed\s*$/);
    // A page without a code is printed as it is.
    await page.goto("/+privacy");
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect(await page.getByRole("main").innerText()).not.toBe("");
    expect(await page.getByRole("navigation").count()).toBe(0);
  });
});

/** How many sheets of paper the page takes. */
async function pagesOf(page: Page, format: string): Promise<number> {
  const pdf = (await page.pdf({ format })).toString("latin1");
  return [...pdf.matchAll(/\/Type \/Page\b/g)].length;
}

const MAKERS = readers([
  { locale: "en-GB", viewport: LAPTOP },
  { locale: "ko-KR", viewport: PHONE },
]);

describe.each(MAKERS)("the page of a QR code ($locale)", ({ locale, viewport }) => {
  const say = wordsOf(locale);
  const wordOf = (word: "weak" | "enough" | "inverted" | "low" | "size") =>
    new RegExp(RegExp.escape(say(`qr.word.${word}`)).replaceAll(/\\\{\w+\\\}/g, ".+"));
  const drawing = (page: Page) => page.getByRole("img", { name: say("preview.qr", { address: "" }).trim() });

  test("works without scripts and keeps its choices in the address", async () => {
    await using page = await openPage(curt.origin, { locale, viewport, javaScriptEnabled: false });
    await page.goto("/abc+");
    await page.getByRole("button", { name: say("page.more") }).click();
    await page.getByRole("link", { name: say("links.qr"), exact: true }).click();
    await page.getByText(wordOf("enough")).waitFor();
    for (const word of ["weak", "low", "inverted", "size"] as const)
      expect([word, await page.getByText(wordOf(word)).isVisible()]).toEqual([word, false]);
    expect(await page.getByRole("button", { name: say("qr.print") }).count()).toBe(0);
    await page.getByRole("textbox", { name: say("qr.dark"), exact: true }).fill("#7a1f3d");
    await page.getByText(say("qr.fold")).click();
    await page.getByLabel(say("qr.size"), { exact: true }).fill("64");
    await page.getByLabel(say("qr.margin"), { exact: true }).fill("2");
    await page.getByRole("radio", { name: say("qr.ecc.h") }).check();
    await page.getByRole("button", { name: say("qr.show") }).click();
    // 29 modules and a margin of 2 on both sides, at 3 pixels.
    await page.getByText(say("qr.word.size", { size: 99 })).waitFor();
    const query = Object.fromEntries(new URL(page.url()).searchParams);
    expect(query).toEqual({ dark: "#7a1f3d", light: "#ffffff", ecc: "h", margin: "2", size: "64" });
    expect(await drawing(page).locator("path").getAttribute("stroke")).toBe("#7a1f3d");
    expect(await scan(blank, pictureOf(page))).toBe(addressOf("abc"));
    // The choices survive a change of language.
    await chooseLanguage(page, locale === "en-GB" ? "ko" : "en");
    expect(await drawing(page).count()).toBe(0);
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toMatchObject(query);
  });

  test("saves files named after the code", async () => {
    await using page = await openPage(curt.origin, { locale, viewport });
    for (const [code, name] of [
      ["abc", "abc"],
      [HANGUL, HANGUL],
      // Browsers replace invisible characters.
      [FAMILY, "👨_👩_👧_👦"],
    ] as const) {
      await page.goto(pathOf(code, "+qr?dark=003366"));
      for (const format of ["png", "svg"] as const) {
        const [download] = await Promise.all([
          page.waitForEvent("download"),
          page.getByRole("link", { name: say(`qr.${format}`) }).click(),
        ]);
        expect(download.suggestedFilename().normalize("NFC")).toBe(`${name}.${format}`);
        expect(new URL(download.url()).searchParams.get("dark")).toBe("003366");
      }
    }
  });

  test("redraws without requests as colours change, and warns about low contrast and few pixels", async () => {
    await using page = await openPage(curt.origin, { locale, viewport });
    await page.goto("/abc+qr");
    const requests: string[] = [];
    page.on("request", (request) => void requests.push(request.url()));
    const [dark, light] = [
      page.getByRole("textbox", { name: say("qr.dark"), exact: true }),
      page.getByRole("textbox", { name: say("qr.light"), exact: true }),
    ];
    const swatch = page.getByRole("textbox", { name: `${say("qr.colours")}: ${say("qr.dark")}` });
    const png = page.getByRole("link", { name: say("qr.png") });
    await swatch.fill("#336699");
    expect(await dark.inputValue()).toBe("#336699");
    await dark.fill("7a1f3d");
    expect(await swatch.inputValue()).toBe("#7a1f3d");
    expect(await drawing(page).locator("path").getAttribute("stroke")).toBe("#7a1f3d");
    await page.getByText(say("qr.word.enough", { contrast: 10 })).waitFor();
    expect(await scan(blank, pictureOf(page))).toBe(addressOf("abc"));
    // Too little contrast: an unreadable code can't be saved.
    await dark.fill("#c0c0c0");
    await page.getByText(say("qr.word.low", { contrast: 1.8 })).waitFor();
    expect(await page.getByText(wordOf("enough")).isVisible()).toBe(false);
    expect(await png.getAttribute("href")).toBeNull();
    expect(await dark.getAttribute("aria-invalid")).toBe("true");
    await page.getByRole("button", { name: say("page.more") }).click();
    expect(await page.getByRole("button", { name: say("qr.copy") }).isDisabled()).toBe(true);
    await page.keyboard.press("Escape");
    // Inverted, and swapped.
    await light.fill("#101010");
    await page.getByText(say("qr.word.inverted").split("{")[0] ?? "").waitFor();
    await page.getByRole("link", { name: say("qr.swap") }).click();
    expect([await dark.inputValue(), await light.inputValue()]).toEqual(["#101010", "#c0c0c0"]);
    await page.getByText(wordOf("enough")).waitFor();
    expect(await png.getAttribute("href")).toContain("dark=%23101010&light=%23c0c0c0");
    // This ratio would be enough between brighter colours.
    await dark.fill("#000000");
    await light.fill("#707070");
    await page.getByText(wordOf("weak")).waitFor();
    await light.fill("#ffffff");
    await dark.fill("#777777");
    await page.getByText(say("qr.word.weak", { contrast: 4.4 })).waitFor();
    await dark.fill("#767676");
    await page.getByText(say("qr.word.enough", { contrast: 4.5 })).waitFor();
    // Too few pixels.
    await page.getByText(say("qr.fold")).click();
    await page.getByLabel(say("qr.size"), { exact: true }).fill("110");
    await page.getByText(say("qr.word.size", { size: 111 })).waitFor();
    await page.getByLabel(say("qr.size"), { exact: true }).fill("111");
    await page.getByText(wordOf("size")).waitFor({ state: "hidden" });
    expect(requests).toEqual([]);
    // The service draws other modules and margins.
    await page.getByRole("radio", { name: say("qr.ecc.h") }).check();
    await page.getByLabel(say("qr.margin"), { exact: true }).fill("2");
    await page.keyboard.press("Tab");
    expect(new URL((await png.getAttribute("href")) ?? "", curt.origin).search).toContain("ecc=h");
    await page.locator("svg[data-modules='29'][viewBox='-2 -2 33 33']").waitFor();
    expect(await scan(blank, pictureOf(page))).toBe(addressOf("abc"));
    await page.reload();
    expect(await page.getByRole("radio", { name: say("qr.ecc.h") }).isChecked()).toBe(true);
    expect(await page.getByLabel(say("qr.size"), { exact: true }).inputValue()).toBe("111");
    await page.locator("svg[data-modules='29']").waitFor();
  });

  test("shows which parameters of an edited address are wrong", async () => {
    await using page = await openPage(curt.origin, { locale, viewport });
    const response = await page.goto("/abc+qr?dark=x&margin=99&ecc=z");
    expect([response?.status(), response?.headers()["curt-reason"]]).toEqual([
      400,
      "query.range, query.colour, field.values",
    ]);
    const margin = page.getByLabel(say("qr.margin"), { exact: true });
    await page.getByText(say("query.range", { min: 0, max: 16 })).waitFor();
    expect([await margin.inputValue(), await margin.getAttribute("aria-invalid")]).toEqual(["99", "true"]);
    expect(await scan(blank, pictureOf(page))).toBe(addressOf("abc"));
    await margin.fill("4");
    await page.getByText(say("query.range", { min: 0, max: 16 })).waitFor({ state: "hidden" });
    // The fold hides a wrong value until the service refuses it.
    await margin.fill("17");
    await page.getByText(say("qr.fold")).click();
    await page.getByRole("textbox", { name: say("qr.dark"), exact: true }).press("Enter");
    await page.getByText(say("query.range", { min: 0, max: 16 })).waitFor();
    expect(await margin.inputValue()).toBe("17");
  });

  test("copies the image and prints", async () => {
    await using page = await openPage(curt.origin, {
      locale,
      viewport,
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await page.addInitScript("window.print = () => { document.title = 'printed'; }");
    await stopTime(page);
    await page.goto("/abc+qr?size=300");
    await page.getByRole("button", { name: say("page.more") }).click();
    await page.getByRole("button", { name: say("qr.copy") }).click();
    await page.getByRole("button", { name: say("copied") }).waitFor();
    const copied = await page.evaluate<number[]>(`(async () => {
      const [item] = await navigator.clipboard.read();
      const { width, height } = await createImageBitmap(await item.getType("image/png"));
      return [width, height];
    })()`);
    expect(copied).toEqual([300, 300]);
    await page.getByRole("button", { name: say("qr.print") }).click();
    expect(await page.title()).toBe("printed");
  });
});
