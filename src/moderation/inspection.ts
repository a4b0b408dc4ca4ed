import type { Clock, WallClock } from "../links/clock.ts";
import { type Code, type CodeCase, lookUpKey } from "../links/code.ts";
import type { Blocked } from "../links/link-check.ts";
import type { EntryId, LinkId, LinkStore } from "../links/link-store.ts";
import type { StoredLink } from "../links/link.ts";
import type { Unknown } from "../links/problem.ts";
import type { Target } from "../links/target.ts";
import { HOUR_MS } from "../links/time.ts";
import type { Sums } from "../visits/days/day.ts";
import { readDetail } from "../visits/days/detail.ts";
import type { VisitStore } from "../visits/days/visit-store.ts";
import type { CaseCursor, CaseQuery, CaseStore, ListedCase, NotedCase } from "./case.ts";
import type { Figures } from "./figures.ts";
import { byHarm, type OpenCase } from "./harm.ts";
import type { HostRules } from "./host-rules.ts";
import { isWithin, type LinkCursor, type LinkPage, type LinkQuery } from "./link-query.ts";
import type { ModerationStore, HostRule, DecisionEntry, DecisionFilter } from "./moderation-store.ts";

/** Requests a page of a list. `cursor` is that of the page before; any other text finds nothing. */
export interface ListPage {
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface InspectionOptions {
  readonly store: Pick<LinkStore, "find"> &
    Pick<VisitStore, "sums" | "days"> &
    Pick<ModerationStore, "hosts" | "decisions" | "search" | "figures" | "caseOf" | "cases" | "openCases">;
  readonly clock: WallClock;
  readonly blocked: Blocked;
  readonly codeCase: CodeCase;
}

/** Where a search continues after the link whose code is the text. */
const AFTER_CODE = "code" as LinkCursor;
/** Entries that one page of a filtered journal searches. */
const MAX_FILTERED = 5000;
/** Entries in the history of one link. */
const MAX_HISTORY = 200;

/** A link with the rule about its target, if any. */
export interface InspectedLink extends StoredLink {
  readonly blocked: ReturnType<Blocked>;
}

/** Everything about a link. Its visits are those since its creation. */
export interface LinkDetails extends Sums {
  readonly link: InspectedLink;
  /** The operator's decisions about it, newest first. */
  readonly history: readonly DecisionEntry[];
  readonly reported: NotedCase | undefined;
}

/** A page of a list. Without a cursor, it is the last one. */
export interface ListItems<T> {
  readonly items: readonly T[];
  readonly cursor: string | undefined;
}

export interface InspectedCase extends ListedCase {
  /** Undefined if the link no longer exists. */
  readonly link: InspectedLink | undefined;
}

/** Links to a host and the hosts below it, as far as a short search finds them. */
export interface HostLinks {
  readonly count: number;
  /** How many others than the link in question are disabled. */
  readonly disabled: number;
  /** Who created them, and how many; "" is anybody. */
  readonly makers: ReadonlyMap<string, number>;
  /** Whether these are all. */
  readonly isAll: boolean;
}

/** The read-only views of the operator. Reject with `StoreUnavailable`. */
export interface Inspection {
  readonly nowMs: Clock["nowMs"];
  /** A page of a search. The link whose code is the text comes first. */
  search(query: LinkQuery, page: ListPage): Promise<LinkPage>;
  /** The links among these that still exist. */
  links(ids: readonly LinkId[]): Promise<readonly InspectedLink[]>;
  /** Everything about the link of a code as an address spells it, even if it was deleted. */
  details(spelling: string): Promise<LinkDetails | Unknown>;
  figures(): Promise<Figures>;
  hosts(page: ListPage): Promise<ListItems<HostRule>>;
  /** With a filter, a page may have few entries although the list continues. */
  decisions(page: ListPage, filter?: Omit<DecisionFilter, "after">): Promise<ListItems<DecisionEntry>>;
  /** One entry of the operator's journal. */
  decision(entry: EntryId): Promise<DecisionEntry | undefined>;
  /** Open cases, then answered ones, or only one of both. */
  cases(page: ListPage, state?: CaseQuery["state"]): Promise<ListItems<InspectedCase>>;
  /** A page of open cases, in the order of their harm. */
  desk(page: ListPage): Promise<ListItems<InspectedCase & OpenCase>>;
  /** Visits in each of the last 24 hours of the clock, oldest first. Leaves out days without known hours. */
  hours(link: LinkId): Promise<readonly number[]>;
  /** Counts links to a host. `except` is the link in question. */
  linksTo(host: string, except?: LinkId): Promise<HostLinks>;
  openCases: CaseStore["openCases"];
}

const HOURS = 24;
/** The longest search for the links to a host, and the most that it counts. */
const COUNTING = { ms: 100, links: 2000 };

export function createInspection({ store, clock, blocked, codeCase }: InspectionOptions): Inspection {
  const inspect = (link: StoredLink): InspectedLink => ({
    ...link,
    blocked: link.disabled === "deleted" ? undefined : blocked(link.target),
  });

  async function cases(page: ListPage, state?: CaseQuery["state"]): Promise<ListItems<InspectedCase>> {
    const result = await readPage(
      page,
      (limit) => store.cases({ state, after: page.cursor as CaseCursor | undefined, limit }),
      ({ cursor }) => cursor,
    );
    const withLink = async (one: (typeof result.items)[number]) => {
      const link = await store.find(one.code);
      const isSame = link?.createdMs === one.createdMs;
      return { ...one, link: isSame ? inspect(link) : undefined };
    };
    return { ...result, items: await Promise.all(result.items.map(withLink)) };
  }

  async function hours({ code, createdMs }: LinkId): Promise<readonly number[]> {
    const first = Math.floor(clock.nowMs() / HOUR_MS) - HOURS + 1;
    const dayOf = (hour: number) => Math.floor(hour / 24);
    const days = await store.days(code, createdMs, dayOf(first), dayOf(first + HOURS - 1));
    const visits = Array.from({ length: HOURS }, () => 0);
    for (const { day, detail } of days)
      for (const [hour, [count]] of Object.entries(readDetail(detail).hours ?? {})) {
        const at = 24 * day + Number(hour) - first;
        if (at >= 0 && at < HOURS) visits[at] = count;
      }
    return visits;
  }

  return {
    nowMs: clock.nowMs,
    cases,
    hours,

    async desk(page) {
      const { items, cursor } = await cases(page, "open");
      const withHours = async (one: InspectedCase) => ({ ...one, hours: await hours(one) });
      return { items: byHarm(await Promise.all(items.map(withHours)), clock.nowMs()), cursor };
    },

    async linksTo(host, except) {
      const untilMs = performance.now() + COUNTING.ms;
      const makers = new Map<string, number>();
      let [count, disabled] = [0, 0];
      for (let cursor: LinkCursor | undefined; ;) {
        const page = await store.search({ host }, { cursor, limit: COUNTING.links });
        for (const link of page.links) {
          count++;
          if (link.disabled !== undefined && link.code !== except?.code) disabled++;
          const maker = link.terms?.createdBy ?? "";
          makers.set(maker, (makers.get(maker) ?? 0) + 1);
        }
        cursor = page.cursor;
        const isAll = cursor === undefined;
        if (isAll || count >= COUNTING.links || performance.now() >= untilMs)
          return { count, disabled, makers, isAll };
        // Lets other views run.
        await Bun.sleep(0);
      }
    },

    async search(query, { cursor, limit }) {
      const key = query.text === undefined ? undefined : lookUpKey(query.text, codeCase);
      const link = cursor === undefined && key !== undefined ? await store.find(key) : undefined;
      if (link !== undefined && isWithin(link, query))
        return { links: [link], cursor: AFTER_CODE, searched: 0 };
      const from = cursor === AFTER_CODE ? undefined : (cursor as LinkCursor | undefined);
      const page = await store.search({ ...query, key }, { cursor: from, limit });
      return { ...page, links: page.links.filter((one) => one.code !== key) };
    },

    async links(ids) {
      const links = await Promise.all(ids.map(({ code }) => store.find(code)));
      return links.flatMap((link, nth) =>
        link !== undefined && link.createdMs === ids[nth]?.createdMs ? [inspect(link)] : [],
      );
    },

    async details(spelling) {
      const key = lookUpKey(spelling, codeCase);
      const link = key === undefined ? undefined : await store.find(key);
      if (link === undefined) return { kind: "unknown" };
      const [sums, history, reported] = await Promise.all([
        store.sums(link.code, link.createdMs),
        store.decisions({ link, limit: MAX_HISTORY }),
        store.caseOf(link),
      ]);
      return { link: inspect(link), ...sums, history, reported };
    },

    figures: () => store.figures(clock.nowMs()),
    openCases: () => store.openCases(),

    hosts: (page) =>
      readPage(
        page,
        (limit) => store.hosts(page.cursor ?? "", limit),
        ({ host }) => host,
      ),

    async decisions(page, filter) {
      // An invalid cursor ends the list.
      const before = page.cursor === undefined ? undefined : entryOf(page.cursor);
      const [newest] = filter === undefined ? [] : await store.decisions({ before, limit: 1 });
      const after = Math.max(0, (newest?.entry ?? 0) - MAX_FILTERED);
      const found = await readPage(
        page,
        (limit) => store.decisions({ before, limit, filter: filter && { ...filter, after } }),
        ({ entry }) => String(entry),
      );
      return after === 0 ? found : { ...found, cursor: found.cursor ?? String(after + 1) };
    },

    async decision(id) {
      const [found] = await store.decisions({ before: id + 1, limit: 1 });
      return found?.entry === id ? found : undefined;
    },
  };
}

/** Reads the number of an entry from an address. No entry has the number 0. */
export function entryOf(written: string): EntryId {
  return /^\d{1,15}$/.test(written) ? Number(written) : 0;
}

/** Reads one item more than the limit, to see whether the list continues. */
async function readPage<T>(
  { limit }: ListPage,
  read: (limit: number) => Promise<readonly T[]>,
  cursorOf: (item: T) => string,
): Promise<ListItems<T>> {
  const rows = await read(limit + 1);
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, cursor: rows.length > limit && last !== undefined ? cursorOf(last) : undefined };
}

/** Entries of the operator's journal that are searched. */
const MAX_ENTRIES = 100;

export interface LinkDecisions {
  /** Reads the decisions about a link, newest first. */
  decisions(
    link: LinkId<Code>,
    limit: number,
  ): Promise<readonly Pick<DecisionEntry, "action" | "atMs" | "undone">[]>;
}

interface DisabledSinceOptions {
  readonly store: LinkDecisions;
  readonly hostRules: Pick<HostRules, "ruleFor">;
}

/**
 * Finds out when a link was disabled (Unix ms), by itself or by the rule about its host. Undefined for a blocklist. Rejects
 * with `StoreUnavailable`.
 */
export type ReadDisabledSince = (
  link: LinkId<Code> & { readonly target: Target },
) => Promise<number | undefined>;

export function createDisabledSinceReader({ store, hostRules }: DisabledSinceOptions): ReadDisabledSince {
  return async (link) => {
    const entries = await store.decisions(link, MAX_ENTRIES);
    const decided = entries.find(
      ({ action, undone }) => undone === undefined && (action === "disable" || action === "enable"),
    );
    return decided?.action === "disable" ? decided.atMs : hostRules.ruleFor(link.target)?.sinceMs;
  };
}
