import { keepBookmarklet } from "./bookmarklet.ts";
import { checkCodes } from "./check.ts";
import { markRead } from "./contents.ts";
import { offerCopies } from "./copy.ts";
import { watchVisits } from "./live.ts";
import { rememberMade, showMadeHere } from "./made-here.ts";
import { welcomeMaker } from "./made.ts";
import { manageLinks } from "./manage.ts";
import { sendOnce } from "./once.ts";
import { takeAddresses } from "./pasted.ts";
import { forgetRefusals } from "./refusals.ts";
import { localiseTimes } from "./times.ts";
import { rememberToken } from "./token.ts";
import { makeTryable } from "./try.ts";
import { keepTyped } from "./typed.ts";
import { tellZone } from "./zone.ts";

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
makeTryable(document);
markRead();
