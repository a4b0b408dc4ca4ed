import { type Each, mapEach } from "../lib/each.ts";
import type { Clock } from "./clock.ts";
import { suggestFreeCodes } from "./code-suggestions.ts";
import { capitalsOf, type Code, codeSpace, generateCode, keyOf, parseCode, splitKey } from "./code.ts";
import {
  addPassword,
  createDestinationParser,
  createDraftParser,
  type CreateRequest,
  type Draft,
  type DraftOptions,
  NO_TERMS,
  type ParseDestination,
  withOrigin,
} from "./drafts.ts";
import {
  type CreatedRecord,
  type KeyReused,
  type LinkStore,
  type NumberedLink,
  type RepeatableRequest,
  StoreUnavailable,
} from "./link-store.ts";
import type { Link } from "./link.ts";
import { isProblem, type Problem, type Refusal, type Taken } from "./problem.ts";
import type { Target } from "./target.ts";
import { termsOf } from "./terms/term-values.ts";

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
  readonly clock: Clock;
  /** `insert`, `insertOnce` and `recall` take and return keys, which are made here. */
  readonly store: Pick<LinkStore<Code>, "find" | "size" | "insert" | "insertOnce" | "recall">;
  /** Fills an array with bytes from a CSPRNG. */
  readonly fillRandom: (bytes: Uint8Array) => void;
  readonly codeLength: number;
  /** How long after its link's end a code cannot be reused. */
  readonly codeHoldMs: number;
  readonly onCreated: (link: Link) => void;
  readonly onRefused: (problem: Problem) => void;
}

/** Generated codes get one character longer once this share of all codes of their length is in use. */
export const MAX_SPACE_USED = 1 / 10_000;
const MAX_GENERATE_TRIES = 8;
/** Shared by nearly all creates, because a new one would cost each of them a little. */
const NONE: readonly never[] = [];
const NO_RECORDS: ReadonlyMap<number, CreatedRecord> = new Map();
const TAKEN: Taken = { kind: "taken" };

/** The outcome of a request. Its link counts as taken until it is inserted. */
interface Entry {
  outcome: Link | Problem;
  /** Whether this request has created the link, and no other one with its key. */
  isNew: boolean;
}

/** A link to insert. */
interface Pending extends Entry {
  readonly nth: number;
  readonly request: CreateRequest;
  readonly draft: Draft;
  /** The code of the last try. */
  code: Code | undefined;
}

/** For each link: whether it was inserted, or the record of it or of an earlier request's. */
type Insert<Reused> = (
  links: readonly NumberedLink[],
) => Promise<readonly (boolean | CreatedRecord)[] | Reused>;

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
    before: readonly CreatedRecord[],
  ): Promise<Creation<Requests> | KeyReused>;
  /** Returns what a request created when it was first sent, for {@link createOnce}. */
  readonly recall: LinkStore["recall"];
  /** Says whether a code is free now. Nothing is reserved: somebody else may take it before `create`. */
  availability(written: string): Promise<Availability | Problem>;
  readonly parseDestination: ParseDestination;
  /** Everything that is wrong with a request, without creating a link. */
  refusalsOf(request: CreateRequest): readonly Refusal[];
}

/** There is no other way to create links, so all rules about new ones are applied here. */
export function createLinkCreation(options: CreateOptions): Creating {
  const { store, clock, fillRandom, codeCase, codeLength, codeHoldMs, onCreated, onRefused } = options;
  const parseDestination = createDestinationParser(options);
  const parse = createDraftParser(options, parseDestination);

  /** The link that an earlier request created, as it was then. */
  function replay(
    { originalUrl, customCode, terms: wanted = NO_TERMS, ...origin }: CreateRequest,
    { code: key, createdMs, endsMs }: CreatedRecord,
  ): Link {
    const { code } = splitKey(key);
    // It was accepted before, so it can be parsed.
    const target = (URL.parse(originalUrl)?.href ?? originalUrl) as Target;
    const capitals = customCode === undefined ? undefined : capitalsOf(customCode, code);
    const terms = withOrigin(termsOf(wanted, createdMs), origin, capitals);
    return { code, originalUrl, target, createdMs, endsMs, terms };
  }

  /** Reusing a code deletes its old link, so no code is reused while the clock may be wrong. */
  function freeIfEndedByMs(): number {
    const nowMs = clock.nowMs();
    return clock.trustworthy() ? nowMs - codeHoldMs : 0;
  }

  function lengthFor(size: number): number {
    let length = codeLength;
    while (size > codeSpace(length, codeCase) * MAX_SPACE_USED) length++;
    return length;
  }

  /** Creates the links that `before` doesn't have. A taken code is an outcome, unless it was generated: then another is tried. */
  async function createEach<const Requests extends readonly CreateRequest[], Reused extends KeyReused>(
    requests: Requests,
    insert: Insert<Reused>,
    before: readonly CreatedRecord[] = NONE,
  ): Promise<Each<Requests, Entry> | Reused> {
    const createdMs = clock.nowMs();
    const known = before.length === 0 ? NO_RECORDS : new Map(before.map((record) => [record.nth, record]));
    const entries: Entry[] = [];
    let pending: Pending[] = [];
    for (const request of requests) {
      const nth = entries.length;
      const record = known.get(nth);
      const draft = record === undefined ? parse(request, createdMs) : undefined;
      if (record !== undefined) entries.push({ outcome: replay(request, record), isNew: false });
      else if (isProblem(draft)) entries.push({ outcome: draft, isNew: false });
      else if (draft !== undefined) {
        const entry = { outcome: TAKEN, isNew: false, nth, request, draft, code: draft.code };
        entries.push(entry);
        pending.push(entry);
      }
    }
    let length = 0;
    for (const { draft, request } of pending) {
      // One after the other, because each takes a core for 20 ms, and other requests have passwords as well.
      if (request.terms?.password) await addPassword(draft, request);
      if (draft.code === undefined) length ||= lengthFor(await store.size());
    }
    for (let tries = 0; pending.length > 0; tries++) {
      if (tries === MAX_GENERATE_TRIES)
        throw new StoreUnavailable(`no free code after ${MAX_GENERATE_TRIES} tries`);
      const free = freeIfEndedByMs();
      const links: NumberedLink[] = [];
      // Copying objects with `...` would take several times as long.
      for (const one of pending) {
        const { nth, draft } = one;
        const { keyPrefix, originalUrl, target, endsMs, terms } = draft;
        one.code = draft.code ?? generateCode(length + tries, codeCase, fillRandom);
        const code = keyOf(keyPrefix, one.code);
        links.push({ nth, code, originalUrl, target, createdMs, endsMs, terms, freeIfEndedByMs: free });
      }
      const inserted = await insert(links);
      if ("kind" in inserted) return inserted;
      const tried = pending;
      pending = [];
      let at = 0;
      for (const one of tried) {
        const result = inserted[at++];
        const { request, draft, code } = one;
        const { keyPrefix, originalUrl, target, endsMs, terms } = draft;
        if (code === undefined || !result) {
          if (draft.code === undefined) pending.push(one);
          continue;
        }
        // A store that doesn't know whether its last try was committed tries again, and finds the record of that try.
        one.isNew = result === true || (draft.code === undefined && result.code === keyOf(keyPrefix, code));
        one.outcome =
          result === true || one.isNew
            ? { code, originalUrl, target, createdMs, endsMs, terms }
            : replay(request, result);
      }
    }
    for (const { outcome, isNew } of entries) {
      if (isProblem(outcome)) onRefused(outcome);
      else if (isNew) onCreated(outcome);
    }
    return entries as readonly Entry[] as Each<Requests, Entry>;
  }

  async function isFree(code: Code): Promise<boolean> {
    const link = await store.find(code);
    if (link === undefined) return true;
    return link.disabled === undefined && link.endsMs <= freeIfEndedByMs();
  }

  function toCreation<Requests extends readonly unknown[]>(
    entries: Each<Requests, Entry>,
  ): Creation<Requests> {
    return {
      outcomes: mapEach(entries, ({ outcome }) => outcome),
      created: entries.filter(({ isNew }) => isNew).length,
    };
  }

  return {
    async create(request) {
      const [{ outcome }] = await createEach<[CreateRequest], never>([request], store.insert);
      return outcome;
    },
    createAll: async (requests) =>
      toCreation(await createEach<typeof requests, never>(requests, store.insert)),
    recall: store.recall,

    async createOnce(requests, { key, body }, before) {
      const request = { key, body, sentMs: clock.nowMs() };
      const entries = await createEach(requests, (links) => store.insertOnce(links, request), before);
      return "kind" in entries ? entries : toCreation(entries);
    },

    async availability(written) {
      const code = parseCode(written, codeCase);
      if (isProblem(code)) return code;
      const available = await isFree(code);
      return { code, available, free: available ? NONE : await suggestFreeCodes(code, codeCase, isFree) };
    },

    parseDestination,

    refusalsOf(request) {
      const parsed = parse(request, clock.nowMs());
      return isProblem(parsed) ? parsed.refusals : NONE;
    },
  };
}
