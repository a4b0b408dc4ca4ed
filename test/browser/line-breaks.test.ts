import { expect, test } from "bun:test";

import type { Page } from "playwright-core";

import { disableLink, startService } from "../support/service.ts";
import { openPage } from "./browser.ts";

/** Too narrow for the title in one line, whatever the font. */
const NARROW = { width: 260, height: 600 };

/** The lines of each title and paragraph. */
function linesOf(page: Page): Promise<string[][]> {
  return page.evaluate(`[...document.querySelectorAll("main :is(h1, p)")].map((element) => {
    const lines = [];
    let bottom = 0;
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
      [...text.data].reduce((start, character) => {
        const range = document.createRange();
        range.setStart(text, start);
        range.setEnd(text, start + character.length);
        const box = range.getBoundingClientRect();
        if (box.top >= bottom) lines.push("");
        bottom = Math.max(bottom, box.bottom - box.height / 2);
        lines[lines.length - 1] += character;
        return start + character.length;
      }, 0);
    }
    return lines;
  })`);
}

test("lines break between Korean words, and between the phrases of Japanese titles and introductions", async () => {
  await using curt = await startService();
  await curt.shorten({ original_url: "https://example.com/", custom_code: "bad" });
  await disableLink(curt, "bad", "phishing");
  const read = async (locale: string, path = "/bad") => {
    await using reader = await openPage(curt.origin, { locale, viewport: NARROW });
    await reader.goto(path);
    return await linesOf(reader);
  };

  const korean = await read("ko-KR");
  expect(korean.flat().length).toBeGreaterThan(6);
  // Only the last line of a text has no space behind it. An address breaks before its code.
  expect(korean.flatMap((lines) => lines.slice(0, -1)).filter((line) => !/[ /]$/.test(line))).toEqual([]);

  const texts = await read("ja-JP");
  expect(texts).toContainEqual(["リンクの利用は", "停止されています"]);
  const [, introduction] = await read("ja-JP", "/+links");
  // Inside a word without `auto-phrase`: このブラ|ウザー.
  expect(introduction?.join("|")).toContain("|ブラウザー");
});
