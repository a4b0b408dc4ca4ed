import { answerByKeys, groupByDays } from "../admin/script.ts";
import { drawDraft, keepDraft } from "../home/script/draft.ts";
import {
  checkCodes,
  focusAddress,
  hidePassword,
  keepBookmarklet,
  showCreatedHere,
  takeAddresses,
} from "../home/script/main.ts";
import { copyCreated, rememberCreated, restoreEntries } from "../home/script/submission.ts";
import { manageLinks } from "../manage/script.ts";
import { watchVisits, focusCopyButton, readCharts } from "../preview/script.ts";
import { copyImages, printSheets, styleQrCode } from "../qr/script.ts";
import { enableForms, markCurrentPart, searchParts } from "../reference/script.ts";
import {
  clearStaleErrors,
  localiseTimes,
  offerCopies,
  measureCodes,
  rememberToken,
  submitOnce,
  convertDates,
} from "../shared/script.ts";

// All pages load this script. Each function does nothing on pages without the elements it needs.
enhance();

function enhance(): void {
  // First, because it hides the key.
  manageLinks();
  localiseTimes(document);
  offerCopies(document);
  restoreEntries();
  checkCodes();
  rememberToken();
  clearStaleErrors();
  submitOnce();
  drawDraft();
  takeAddresses();
  convertDates(document);
  keepDraft();
  keepQuery();
  focusAddress();
  keepBookmarklet();
  hidePassword();
  rememberCreated();
  copyCreated(enhance);
  focusCopyButton();
  showCreatedHere();
  readCharts(document);
  watchVisits();
  styleQrCode();
  copyImages();
  printSheets();
  enableForms(document);
  markCurrentPart();
  searchParts();
  measureCodes();
  groupByDays();
  answerByKeys();
}

/**
 * Keeps the query of a short address when the language changes, because the link may pass it on. The service can't: all
 * visitors get the same page.
 */
function keepQuery(): void {
  if (!/^\/[^/+]+\/?$/.test(location.pathname)) return;
  const others = location.search
    .slice(1)
    .split("&")
    .filter((one) => !/^(?:language=|$)/.test(one));
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a[hreflang][href^="?language="]'))
    link.search = [...others, `language=${link.hreflang}`].join("&");
}
