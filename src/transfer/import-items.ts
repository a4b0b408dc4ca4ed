import type { Link } from "../links/link.ts";
import type { Detail } from "../visits/days/detail.ts";

export interface InputFile {
  /** The first line without its line break, truncated if very long. Must be called before `bytes`. */
  firstLine(): Promise<string>;
  /** All bytes of the file. Can be called once. */
  bytes(): AsyncIterable<Uint8Array>;
}

/** Handles a broken line. If it returns, the reader skips the line. */
export type OnBrokenLine = (line: number, why: string) => void;

export type ImportItem = LinkItem | VisitsItem | SkippedItem;

export interface LinkItem extends Pick<Link, "originalUrl" | "disabled" | "terms"> {
  readonly kind: "link";
  /** Joins the link with its visits. */
  readonly key: string | number;
  /** The position in the file, such as "line 12". */
  readonly place: string;
  /** As in an address, after percent-decoding. */
  readonly code: string;
  /** Computed from the URL if the file doesn't have it. */
  readonly target?: string | undefined;
  readonly createdMs?: number | undefined;
  /** Undefined if the link never ends. */
  readonly endsMs?: number | undefined;
  /** All visits of the link. Visits that no {@link VisitsItem} dates are stored without a date. */
  readonly visits?: number | undefined;
}

/** Visits of a link, before or after it in the file. Visits of the same day are added up. */
export interface VisitsItem {
  readonly kind: "visits";
  /** The key of the link. */
  readonly key: string | number;
  /** Days since 1970-01-01 (UTC). Day 0 stands for visits without a date. */
  readonly day: number;
  /** Visits by people. */
  readonly visits: number;
  readonly bots?: number;
  /** Details of a closed day, as `writeDetail` returns them. Dropped if the day has another item. */
  readonly detail?: Detail | null;
  /** Where the item is, for a message. Undefined if its link may follow. */
  readonly place?: string;
}

/** A row that the reader can't import. */
export interface SkippedItem {
  readonly kind: "skipped";
  readonly place: string;
  /** The code, or other text that identifies the row to people. */
  readonly code: string;
  /** The same text for all rows with the same reason, such as "it is of another host". */
  readonly reason: string;
}

/** The file can't be imported. The message says what is wrong and how to fix it. */
export class UnreadableFile extends Error {
  override readonly name = "UnreadableFile";
  constructor(
    message: string,
    /** Undefined for the file that the command names. */
    readonly file?: string,
  ) {
    super(message);
  }
}
