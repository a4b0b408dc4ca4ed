import type { DisabledReason, Terms } from "../links/link.ts";
import type { Detail } from "../visits/detail.ts";

export interface Input {
  /** Without its line break, and cut off if it is endless. To be called before `bytes`. */
  firstLine(): Promise<string>;
  /** The bytes, from the beginning. To be called once. */
  bytes(): AsyncIterable<Uint8Array>;
}

export type SourceItem = SourceLink | SourceVisits | RefusedRow;

/** Instants are Unix milliseconds. */
export interface SourceLink {
  readonly kind: "link";
  /** What visits name their link by. */
  readonly key: string | number;
  /** Where it stands, such as "line 12". */
  readonly place: string;
  /** As it is in an address, after percent-decoding. */
  readonly code: string;
  readonly url: string;
  /** Where the link leads, if it is known to be another spelling of the URL than the one that is computed now. */
  readonly target?: string | undefined;
  /** Undefined if the source does not know. */
  readonly createdMs?: number | undefined;
  /** Undefined if the link never ends. */
  readonly endsMs?: number | undefined;
  /** All visits of the link. Those that no {@link SourceVisits} tells by day are kept as a sum. */
  readonly visits?: number | undefined;
  readonly terms?: Terms | undefined;
  /** Why the link does not work. */
  readonly disabled?: Exclude<DisabledReason, "blocklist"> | undefined;
}

/** Visits of a link, before or after it in the file. Those of the same day are added up. */
export interface SourceVisits {
  readonly kind: "visits";
  /** Of the link. */
  readonly key: string | number;
  /** Since 1970-01-01 (UTC). Day 0 are visits of unknown days. */
  readonly day: number;
  /** By people. */
  readonly visits: number;
  readonly bots?: number | undefined;
  /** Of a closed day, see `writeDetail`. It must be all that is known of the day, and is dropped if more is added. */
  readonly detail?: Detail | undefined;
}

/** A row that is not taken. */
interface RefusedRow {
  readonly kind: "refused";
  readonly place: string;
  /** The code or whatever else names the row for people. */
  readonly code: string;
  /** The same text for all rows with the same reason, such as "it isn't of go.example". */
  readonly reason: string;
}

/** The file is not what it should be. The message says what is wrong and what would be right. */
export class UnreadableSource extends Error {
  override readonly name = "UnreadableSource";
  constructor(
    message: string,
    /** Its name, if it is not the file that the command names. */
    readonly file?: string,
  ) {
    super(message);
  }
}
