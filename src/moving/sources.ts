import { BITLY } from "./from/bitly.ts";
import { CHHOTO } from "./from/chhoto.ts";
import { CSV } from "./from/csv.ts";
import { DUB } from "./from/dub.ts";
import { KUTT } from "./from/kutt.ts";
import { SHLINK } from "./from/shlink.ts";
import { SINK } from "./from/sink.ts";
import { YOURLS } from "./from/yourls.ts";
import type { Source } from "./source.ts";

/** By their names on the command line. */
export const SOURCES: Readonly<Record<string, Source>> = {
  yourls: YOURLS,
  kutt: KUTT,
  shlink: SHLINK,
  bitly: BITLY,
  dub: DUB,
  chhoto: CHHOTO,
  sink: SINK,
  csv: CSV,
};
