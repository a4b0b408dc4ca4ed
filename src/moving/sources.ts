import type { Source } from "./source.ts";

/** By their names on the command line. */
export const SOURCES: Readonly<Record<string, Source>> = {};
