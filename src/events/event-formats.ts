import type { Config } from "../config/config.ts";
import { EventType } from "../config/event-settings.ts";
import { codeInAddress, type LinkKey, splitKey } from "../links/code.ts";
import { linkFields } from "../links/link-fields.ts";
import type { LinkId } from "../links/link-store.ts";
import { stateOf, shownCode } from "../links/link.ts";
import type { Reason } from "../links/problem.ts";
import { keyPrefixOf } from "../links/target.ts";
import { parseTerms, termFields } from "../links/terms/term-values.ts";
import { isoInstant } from "../links/time.ts";
import { type LinkRow, toLink } from "../store/shared/link-row.ts";

/** A row of the outbox, with its link, case and host rule as they are now. */
export interface EventRow extends Omit<LinkRow, "original_url">, LinkId {
  readonly seq: number;
  readonly type: EventType;
  readonly atMs: number;
  /** The host, or why a link was disabled. */
  readonly detail: string | null;
  /** The name of the operator who did it, if known. */
  readonly operator: string | null;
  /** Null if the link is gone. */
  readonly original_url: string | null;
  readonly reports: number | null;
  /** How many reports gave each reason, in JSON, and how many `pending` ones. */
  readonly reasons: string | null;
  readonly hostReason: Reason | null;
}

export type Origins = Pick<Config, "baseUrl" | "domains">;

/** Returns an id that never changes. After a restore, other events get the same numbers, but at other times. */
export function eventId({ atMs, seq }: EventRow): string {
  return `${atMs}-${seq}`;
}

/** Formats an event as a CloudEvent 1.0. */
export function toCloudEvent(row: EventRow, origins: Origins) {
  const by = nameOf(row);
  return {
    specversion: "1.0",
    id: eventId(row),
    source: origins.baseUrl,
    type: row.type,
    subject: row.type === EventType.hostBlocked ? row.detail : row.code,
    time: isoInstant(row.atMs),
    data: {
      ...(row.type === EventType.hostBlocked
        ? { host: row.detail, reason: row.hostReason }
        : {
            ...linkData(row, origins),
            ...(row.type === EventType.linkDisabled && { reason: row.detail }),
            ...(row.type === EventType.reportOpened && { reports: row.reports, reasons: reasonsOf(row) }),
          }),
      ...(by !== undefined && { by }),
    },
  };
}

/** Who did it, if known. */
function nameOf({ operator, type, terms }: EventRow): string | undefined {
  return operator ?? (type === EventType.linkCreated ? parseTerms(terms)?.createdBy : undefined);
}

/** Hides the target of a link that has a password or was deleted. The operator chooses the receivers, so they are colleagues. */
function linkData(row: EventRow, origins: Origins) {
  const { createdMs, original_url } = row;
  const { code } = splitKey(shownKey(row));
  const short_url = `${shownUrl(row, origins)}/`;
  if (original_url === null) return { code, short_url, created_at: isoInstant(createdMs) };
  const link = toLink(row.code, { ...row, original_url });
  const {
    visits_used: _,
    target,
    ...fields
  } = { ...linkFields(link, "everybody"), ...termFields(link, "colleagues") };
  const { disabled } = link;
  return {
    ...fields,
    code,
    short_url,
    target: disabled === "deleted" ? null : target,
    state: stateOf(link, row.atMs),
  };
}

/** The key of a row's link, with the code as it was written. */
function shownKey({ code, terms }: EventRow): LinkKey {
  return shownCode({ code, terms: parseTerms(terms) }) as LinkKey;
}

/** Also gives the address on a domain that is no longer in DOMAINS. */
function shownUrl(row: EventRow, { baseUrl, domains }: Origins): string {
  const { keyPrefix, code } = splitKey(shownKey(row));
  const domain =
    domains.find((origin) => keyPrefixOf(origin) === keyPrefix) ?? `https://${keyPrefix.slice(0, -1)}`;
  return `${keyPrefix === "" ? baseUrl : domain}/${codeInAddress(code)}`;
}

function reasonsOf({ reasons }: EventRow): Record<string, number> {
  const { pending: _, ...counts } = JSON.parse(reasons ?? "{}") as Record<string, number>;
  return counts;
}

const LABELS: Readonly<Record<EventType, string>> = {
  [EventType.reportOpened]: "Reported",
  [EventType.linkCreated]: "Created",
  [EventType.linkChanged]: "Changed",
  [EventType.linkWithdrawn]: "Withdrawn",
  [EventType.linkExpired]: "Expired",
  [EventType.linkDisabled]: "Disabled",
  [EventType.linkEnabled]: "Enabled",
  [EventType.hostBlocked]: "Blocked",
};

/** Formats an event as a line for a chat room. The address is the preview's, because chat rooms fetch it. */
export function toText(row: EventRow, origins: Origins): { readonly text: string } {
  const { type, detail } = row;
  const by = nameOf(row);
  const reason =
    type === EventType.reportOpened ? Object.keys(reasonsOf(row)).join(", ") : (row.hostReason ?? detail);
  const subject = type === EventType.hostBlocked ? detail : `${shownUrl(row, origins)}+`;
  return {
    text: `${LABELS[type]}${reason ? ` (${reason})` : ""}${by === undefined ? "" : ` by ${by}`}: ${subject}`,
  };
}
