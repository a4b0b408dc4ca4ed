import type { Clock } from "../links/clock.ts";
import { type Code, lookUpKey } from "../links/code.ts";
import type { Blocked } from "../links/link-check.ts";
import type { StoredLink } from "../links/link.ts";
import type { LinkId, LinkStore } from "../links/store.ts";
import type { Target } from "../links/target.ts";
import type { VisitStore } from "../visits/days/store.ts";
import type { CaseCursor, CaseQuery } from "./case.ts";
import type { HostRules } from "./host-rules.ts";
import { isTargetWithin, type LinkCursor, type LinkPage, type LinkQuery } from "./search.ts";
import type { GuardStore, JournalCursor, JournalEntry } from "./store.ts";

/** Requests a page of a list. `cursor` is that of the page before; any other text finds nothing. */
export interface ListPage {
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface InspectionOptions {
  readonly store: Pick<LinkStore, "find"> &
    Pick<VisitStore, "sums"> &
    Pick<GuardStore, "hosts" | "journal" | "search" | "figures" | "caseOf" | "cases">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly blocked: Blocked;
}

/** Where a search continues after the link whose code is the text. */
const AFTER_CODE = "code" as LinkCursor;
/** Entries in the history of one link. */
const MAX_HISTORY = 200;

/** The read-only views of the operator. Reject with `StoreUnavailable`. */
export function createInspection({ store, clock, blocked }: InspectionOptions) {
  const inspect = (link: StoredLink) => ({
    ...link,
    blocked: link.disabled === "deleted" ? undefined : blocked(link.target),
  });

  return {
    nowMs: clock.nowMs,

    /** A page of a search. The link whose code is the text comes first. */
    async search(query: LinkQuery, { cursor, limit }: ListPage): Promise<LinkPage> {
      const key = query.text === undefined ? undefined : lookUpKey(query.text);
      const link = cursor === undefined && key !== undefined ? await store.find(key) : undefined;
      if (link !== undefined && (query.host === undefined || isTargetWithin(link.target, query.host)))
        return { links: [link], cursor: AFTER_CODE, searched: 0 };
      const from = cursor === AFTER_CODE ? undefined : (cursor as LinkCursor | undefined);
      const page = await store.search(query, { cursor: from, limit });
      return { ...page, links: page.links.filter((one) => one.code !== key) };
    },

    /** The links among these that still exist. */
    async links(ids: readonly LinkId[]) {
      const links = await Promise.all(ids.map(({ code }) => store.find(code)));
      return links.flatMap((link, nth) =>
        link !== undefined && link.createdMs === ids[nth]?.createdMs ? [inspect(link)] : [],
      );
    },

    /** Everything about the link of a code as an address spells it, even if it was deleted. */
    async look(spelling: string) {
      const key = lookUpKey(spelling);
      const link = key === undefined ? undefined : await store.find(key);
      if (link === undefined) return { kind: "unknown" } as const;
      const [sums, history, reported] = await Promise.all([
        store.sums(link.code, link.createdMs),
        store.journal({ code: link.code, limit: MAX_HISTORY }),
        store.caseOf(link),
      ]);
      return { link: inspect(link), ...sums, history, reported };
    },

    figures: () => store.figures(clock.nowMs()),

    hosts: (page: ListPage) =>
      readPage(
        page,
        (limit) => store.hosts(page.cursor ?? "", limit),
        ({ host }) => host,
      ),

    journal: (page: ListPage) =>
      readPage(
        page,
        (limit) => store.journal({ before: page.cursor as JournalCursor | undefined, limit }),
        ({ cursor }) => cursor,
      ),

    /** Open cases, then answered ones, or only one of both. */
    async cases(page: ListPage, state?: CaseQuery["state"]) {
      const found = await readPage(
        page,
        (limit) => store.cases({ state, after: page.cursor as CaseCursor | undefined, limit }),
        ({ cursor }) => cursor,
      );
      const withLink = async (one: (typeof found.items)[number]) => {
        const link = await store.find(one.code);
        const isSame = link?.createdMs === one.createdMs;
        return { ...one, link: isSame ? inspect(link) : undefined };
      };
      return { ...found, items: await Promise.all(found.items.map(withLink)) };
    },
  };
}

export type Inspection = ReturnType<typeof createInspection>;

/** A link with the rule about its target, if any. */
export type InspectedLink = Awaited<ReturnType<Inspection["links"]>>[number];
export type LinkDetails = Exclude<Awaited<ReturnType<Inspection["look"]>>, { kind: "unknown" }>;

/** Reads one item more than the limit, to see whether the list continues. */
async function readPage<T>(
  { limit }: ListPage,
  read: (limit: number) => Promise<readonly T[]>,
  cursorOf: (item: T) => string,
) {
  const found = await read(limit + 1);
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return { items, cursor: found.length > limit && last !== undefined ? cursorOf(last) : undefined };
}

/** Entries of the journal that are searched. */
const MAX_ENTRIES = 100;

export interface LinkDecisions {
  /** Reads the entries of the journal about the links of a code, newest first. */
  decisions(
    code: Code,
    limit: number,
  ): Promise<readonly Pick<JournalEntry, "createdMs" | "action" | "atMs">[]>;
}

interface DisabledSinceOptions {
  readonly store: LinkDecisions;
  readonly hostRules: Pick<HostRules, "ruleFor">;
}

/** Finds out when a link was disabled, by itself or by the rule about its host. Undefined for a blocklist. */
export function createDisabledSinceReader({ store, hostRules }: DisabledSinceOptions) {
  return async ({ code, createdMs, target }: LinkId<Code> & { readonly target: Target }) => {
    const entries = await store.decisions(code, MAX_ENTRIES);
    const decided = entries.find(
      (entry) => entry.createdMs === createdMs && (entry.action === "disable" || entry.action === "enable"),
    );
    return decided?.action === "disable" ? decided.atMs : hostRules.ruleFor(target)?.sinceMs;
  };
}

export type ReadDisabledSince = ReturnType<typeof createDisabledSinceReader>;
