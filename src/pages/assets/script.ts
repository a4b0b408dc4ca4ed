import {
  checkCodes,
  keepBookmarklet,
  keepTyped,
  rememberMade,
  showMadeHere,
  takeAddresses,
} from "../home/script.ts";
import { manageLinks } from "../manage/script.ts";
import { watchVisits, welcomeMaker } from "../preview/script.ts";
import { copyImages, printSheets, styleQrCode } from "../qr/script.ts";
import { makeTryable, markRead } from "../reference/script.ts";
import {
  forgetRefusals,
  localiseTimes,
  offerCopies,
  rememberToken,
  sendOnce,
  tellZone,
} from "../shared/script.ts";

// All pages load this script. Each function does nothing on pages without the elements it needs.
// First, because it hides the key.
manageLinks();
localiseTimes(document);
offerCopies(document);
checkCodes();
rememberToken();
forgetRefusals();
sendOnce();
takeAddresses();
tellZone(document);
keepTyped();
keepBookmarklet();
rememberMade();
welcomeMaker();
showMadeHere();
watchVisits();
styleQrCode();
copyImages();
printSheets();
makeTryable(document);
markRead();
