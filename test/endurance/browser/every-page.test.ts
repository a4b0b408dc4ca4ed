import { LAPTOP, PHONE } from "../../browser/browser.ts";
import {
  AXE,
  AXE_OF_WORDS,
  FITS,
  type Look,
  MIRRORS,
  SCALES,
  testEveryPage,
} from "../../browser/every-page.ts";

const windowsFor = (look: Look) =>
  [320, 390, 768, 1280].map((width) => ({
    where: `at ${width} px`,
    size: { width, height: 800 },
    looks: [look],
  }));

testEveryPage([
  { locale: "en-GB", scale: 1, windows: windowsFor(AXE) },
  {
    locale: "ko-KR",
    scale: 1,
    windows: [
      { where: "on a phone", size: PHONE, looks: [FITS, SCALES] },
      ...windowsFor(AXE_OF_WORDS),
      { where: "on a laptop", size: LAPTOP, looks: [FITS] },
    ],
  },
  {
    locale: "ja-JP",
    scale: 4,
    windows: [
      {
        where: "four times as large on a laptop",
        size: { width: 320, height: 256 },
        looks: [FITS, MIRRORS],
      },
    ],
  },
]);
