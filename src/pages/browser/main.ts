import { localiseTimes } from "./times.ts";
import { makeTryable } from "./try.ts";

localiseTimes(document);
makeTryable(document);
