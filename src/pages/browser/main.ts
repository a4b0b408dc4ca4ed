import { localiseTimes } from "./times.ts";

localiseTimes(document);
