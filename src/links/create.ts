import { suggestFreeCodes } from "./code-suggestions.ts";
import { type Code, codeSpace, generateCode, parseCode } from "./code.ts";
import {
  addPassword,
  createDrafts,
  type CreateRequest,
  type Draft,
  type DraftOptions,
  NO_TERMS,
  type ParseDestination,
  withCreator,
} from "./drafts.ts";
import { type Each, mapEach } from "./each.ts";
import type { Link } from "./link.ts";
import { isProblem, type Problem, type Refusal, type Taken } from "./problem.ts";
import {
  type CreatedRecord,
  type KeyReused,
  type LinkStore,
  type NumberedLink,
  type RepeatableRequest,
  StoreUnavailable,
} from "./store.ts";
import type { Target } from "./target.ts";
import { termsOf } from "./term-values.ts";

/** The outcome of each request, in order. `created` doesn't count links that existed before. */
interface Creation<Requests extends readonly unknown[]> {
  readonly outcomes: Each<Requests, Link | Problem>;
  readonly created: number;
}

interface Availability {
  readonly code: Code;
  readonly available: boolean;
  /** If the code is taken, similar ones that are free. */
  readonly free: readonly Code[];
}

export interface CreateOptions extends DraftOptions {
  readonly store: Pick<LinkStore<Code>, "find" | "size" | "insert" | "insertOnce" | "recall">;
  /** Fills an array with bytes from a CSPRNG. */
  readonly fillRandom: (bytes: Uint8Array) => void;
  readonly codeLength: number;
  readonly onCreated: (link: Link) => void;
  readonly onRefused: (problem: Problem) => void;
}

/** Generated codes get one character longer once this share of all codes of their length is in use. */
export const MAX_SPACE_USED = 1 / 10_000;
const MAX_GENERATE_TRIES = 8;
/** Shared by nearly all creates, because a new one would cost each of them a little. */
const NONE: readonly never[] = [];
const NO_RECORDS: ReadonlyMap<number, CreatedRecord<Code>> = new Map();
const TAKEN: Taken = { kind: "taken" };

/** A request, and its outcome so far. */
interface Entry {
  outcome: Link | Problem;
  /** Whether this request has created the link, and no other one with its key. */
  isNew: boolean;
}

/** A link to insert. It counts as taken until it is inserted. */
interface Pending extends Entry {
  readonly nth: number;
  readonly request: CreateRequest;
  readonly draft: Draft;
  /** The code of the last try. */
  triedCode: Code | undefined;
}
type Insert<Reused> = (
  links: readonly NumberedLink<Code>[],
) => Promise<readonly (Omit<CreatedRecord<Code>, "nth"> | Taken)[] | Reused>;

/** How links are created. Promises reject with `StoreUnavailable`. */
export interface Creating {
  /** Creates a link, durably. */
  create(request: CreateRequest): Promise<Link | Problem>;
  /** Creates links, durably and in one commit. A problem of one does not affect the others. */
  createAll<const Requests extends readonly CreateRequest[]>(requests: Requests): Promise<Creation<Requests>>;
  /** Creates links for a request that may be repeated. Links in `before` are returned as they were created. */
  createOnce<const Requests extends readonly CreateRequest[]>(
    requests: Requests,
    request: RepeatableRequest,
    before: readonly CreatedRecord<Code>[],
  ): Promise<Creation<Requests> | KeyReused>;
  /** Returns what a request created when it was first sent, for {@link createOnce}. */
  readonly recall: LinkStore<Code>["recall"];
  /** Says whether a code is free now. Nothing is reserved: somebody else may take it before `create`. */
  availability(written: string): Promise<Availability | Problem>;
  readonly parseDestination: ParseDestination;
  /** Everything that is wrong with a request, without creating a link. */
  refusalsOf(request: CreateRequest): readonly Refusal[];
}

/** There is no other way to create links, so all rules about new ones are applied here. */
export function createLinkCreation(options: CreateOptions): Creating {
  const { store, clock, fillRandom, codeLength, onCreated, onRefused } = options;
  const { parseDestination, freeIfEndedByMs, parse, toNewLink } = createDrafts(options);

  /** The link that an earlier request created, as it was then. */
  function replay(
    { originalUrl, terms: wanted = NO_TERMS, createdBy }: CreateRequest,
    { code, createdMs, endsMs }: Omit<CreatedRecord<Code>, "nth">,
  ): Link {
    // It was accepted before, so it can be parsed.
    const target = (URL.parse(originalUrl)?.href ?? originalUrl) as Target;
    const terms = withCreator(termsOf(wanted, createdMs), createdBy);
    return { code, originalUrl, target, createdMs, endsMs, terms };
  }

  function toTry({ code }: Draft, length: number, tries: number): Code {
    if (tries === MAX_GENERATE_TRIES)
      throw new StoreUnavailable(`no free code after ${MAX_GENERATE_TRIES} tries`);
    return code ?? generateCode(length + tries, fillRandom);
  }

  /**
   * Inserts links, unless they were created before. A taken code is an outcome, unless it was generated: then another one is
   * tried.
   */
  async function add<Reused extends KeyReused>(
    all: readonly Pending[],
    insert: Insert<Reused>,
  ): Promise<Reused | undefined> {
    const needsCode = all.some(({ draft }) => draft.code === undefined);
    const length = needsCode ? await lengthOfCodes() : 0;
    let pending = all;
    for (let tries = 0; pending.length > 0; tries++) {
      const links = pending.map((one) => {
        one.triedCode = toTry(one.draft, length, tries);
        return { nth: one.nth, ...toNewLink(one.draft, one.triedCode) };
      });
      const inserted = await insert(links);
      if ("kind" in inserted) return inserted;
      for (const [at, one] of pending.entries()) {
        const record = inserted[at];
        if (record === undefined || isProblem(record)) continue;
        const { code, createdMs, endsMs } = record;
        const { originalUrl, target, terms } = one.draft;
        one.isNew = code === one.triedCode && createdMs === one.draft.createdMs;
        one.outcome = one.isNew
          ? { code, originalUrl, target, createdMs, endsMs, terms }
          : replay(one.request, record);
      }
      pending = pending.filter(({ draft, outcome }) => draft.code === undefined && isProblem(outcome));
    }
    return undefined;
  }

  function lengthOfCodes(): number | Promise<number> {
    const size = store.size();
    return typeof size === "number" ? lengthFor(size) : size.then(lengthFor);
  }

  function lengthFor(size: number): number {
    let length = codeLength;
    while (size > codeSpace(length) * MAX_SPACE_USED) length++;
    return length;
  }

  /** Creates the links that `before` does not have. A problem of one does not affect the others. */
  async function decide<const Requests extends readonly CreateRequest[], Reused extends KeyReused>(
    requests: Requests,
    insert: Insert<Reused>,
    before: readonly CreatedRecord<Code>[] = [],
  ): Promise<Creation<Requests> | Reused> {
    let created = 0;
    const createdMs = clock.nowMs();
    const known = before.length === 0 ? NO_RECORDS : new Map(before.map((record) => [record.nth, record]));
    const entries = mapEach(requests, (request, nth): Entry | Pending => {
      const record = known.get(nth);
      if (record !== undefined) return { outcome: replay(request, record), isNew: false };
      const draft = parse(request, createdMs);
      if (isProblem(draft)) return { outcome: draft, isNew: false };
      return { nth, request, draft, triedCode: undefined, outcome: TAKEN, isNew: false };
    });
    const pending = entries.filter((entry): entry is Pending => "request" in entry);
    // One after the other, because each takes a core for 20 ms, and other requests have passwords as well.
    for (const { draft, request } of pending) if (request.terms?.password) await addPassword(draft, request);
    const reused = await add(pending, insert);
    if (reused !== undefined) return reused;
    const outcomes = mapEach(entries, ({ outcome, isNew }) => {
      if (isProblem(outcome)) onRefused(outcome);
      else if (isNew) {
        created++;
        onCreated(outcome);
      }
      return outcome;
    });
    return { outcomes, created };
  }

  async function isFree(code: Code): Promise<boolean> {
    const link = await store.find(code);
    if (link === undefined) return true;
    return link.disabled === undefined && link.endsMs <= freeIfEndedByMs(clock.nowMs());
  }

  const createAll: Creating["createAll"] = (requests) =>
    decide<typeof requests, never>(requests, store.insert);

  return {
    async create(request) {
      const draft = parse(request, clock.nowMs());
      if (isProblem(draft)) {
        onRefused(draft);
        return draft;
      }
      if (request.terms?.password) await addPassword(draft, request);
      const length = draft.code === undefined ? await lengthOfCodes() : 0;
      for (let tries = 0; ; tries++) {
        const [outcome = TAKEN] = await store.insert([toNewLink(draft, toTry(draft, length, tries))]);
        if (!isProblem(outcome)) onCreated(outcome);
        else if (draft.code === undefined) continue;
        else onRefused(outcome);
        return outcome;
      }
    },
    createAll,
    recall: store.recall,

    createOnce(requests, { key, body }, before) {
      const request = { key, body, sentMs: clock.nowMs() };
      return decide(requests, (links) => store.insertOnce(links, request), before);
    },

    async availability(written) {
      const code = parseCode(written);
      if (isProblem(code)) return code;
      const available = await isFree(code);
      return { code, available, free: available ? NONE : await suggestFreeCodes(code, isFree) };
    },

    parseDestination,

    refusalsOf(request) {
      const parsed = parse(request, clock.nowMs());
      return isProblem(parsed) ? parsed.refusals : NONE;
    },
  };
}
