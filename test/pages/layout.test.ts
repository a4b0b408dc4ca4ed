import { expect, test } from "bun:test";

import { CURT } from "../../src/pages/assets/branding.ts";
import { Html } from "../../src/pages/shared/html/jsx-runtime.ts";
import { page } from "../../src/pages/shared/layout.tsx";

test.each([
  ["en", '<html lang="en">'],
  ["ko", '<html lang="ko">'],
  ["zh-Hant", '<html lang="zh-Hant">'],
  // Languages that Curt does not have yet.
  ["ar", '<html lang="ar" dir="rtl">'],
  ["he", '<html lang="he" dir="rtl">'],
  ["ur-IN", '<html lang="ur-IN" dir="rtl">'],
])("a page has the text direction of its language (%s)", (language, start) => {
  expect(page(language, { title: "" }, new Html(""))(CURT)).toStartWith(`<!doctype html>${start}<head>`);
});
