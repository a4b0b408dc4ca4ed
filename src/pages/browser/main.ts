import { keepBookmarklet } from "./bookmarklet.ts";
import { checkCodes } from "./check.ts";
import { offerCopies } from "./copy.ts";
import { watchVisits } from "./live.ts";
import { rememberMade, showMadeHere } from "./made-here.ts";
import { hideMadeHash } from "./made.ts";
import { sendOnce } from "./once.ts";
import { forgetRefusals } from "./refusals.ts";
import { localiseTimes } from "./times.ts";
import { makeTryable } from "./try.ts";
import { keepTyped } from "./typed.ts";

// Each looks for what it makes better, and leaves the page as it is where that is not there.
localiseTimes(document);
offerCopies(document);
checkCodes();
forgetRefusals();
sendOnce();
keepTyped();
keepBookmarklet();
rememberMade();
hideMadeHash();
showMadeHere();
watchVisits();
makeTryable(document);
