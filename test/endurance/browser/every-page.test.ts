import { LAPTOP, PHONE } from "../../browser/browser.ts";
import { AXE_OF_WORDS, FITS, MIRRORS, SCALES, testEveryPage } from "../../browser/every-page.ts";

testEveryPage([
  {
    locale: "ko-KR",
    scale: 1,
    windows: [
      { where: "on a phone", size: PHONE, looks: [AXE_OF_WORDS, FITS, SCALES] },
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
