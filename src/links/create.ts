import type { Clock } from "./clock.ts";
import { suggestFreeCodes } from "./code-suggestions.ts";
import { type Code, codeSpace, generateCode, parseCode } from "./code.ts";
import { type Each, mapEach } from "./each.ts";
import type { Blocked } from "./link-check.ts";
import type { Link, Terms } from "./link.ts";
import { hashPassword } from "./password.ts";
import { type Invalid, invalid, isProblem, type Problem, type Refusal, type Taken } from "./problem.ts";
import {
  type CreatedRecord,
  type KeyReused,
  type LinkStore,
  type NewLink,
  type NumberedLink,
  type RepeatableRequest,
  StoreUnavailable,
} from "./store.ts";
import { parseTarget, type Target, targetHost, type TargetPolicy } from "./target.ts";
import { endOf, refuseEnd, refuseTerms, termsOf } from "./term-values.ts";
import type { WantedTerms } from "./terms.ts";
import type { Expiry } from "./time.ts";

/** The outcome of each request, in order. `created` doesn't count links that existed before. */
interface Creation<Requests extends readonly unknown[]> {
  readonly outcomes: Each<Requests, Link | Problem>;
  readonly created: number;
}

export interface CreateRequest {
  readonly originalUrl: string;
  readonly customCode?: string | undefined;
  /** The host of another domain of this instance. */
  readonly domain?: string | undefined;
  readonly terms?: WantedTerms | undefined;
  /** The name of who creates it. No body contains it. */
  readonly createdBy?: string | undefined;
  /** Who shares the places of the queue in which passwords are hashed. */
  readonly sharers?: readonly string[] | undefined;
}

interface Availability {
  readonly code: Code;
  readonly available: boolean;
  /** If the code is taken, similar ones that are free. */
  readonly free: readonly Code[];
}

export interface CreateOptions {
  readonly store: Pick<LinkStore<Code>, "find" | "size" | "insert" | "insertOnce" | "recall">;
  readonly clock: Clock;
  /** Fills an array with bytes from a CSPRNG. */
  readonly fillRandom: (bytes: Uint8Array) => void;
  readonly targetPolicy: TargetPolicy;
  readonly blocked: Blocked;
  /** The prefix of another domain's codes in the store. Undefined if there is no such domain. */
  readonly keyPrefixOf?: ((domain: string) => string | undefined) | undefined;
  readonly defaultExpiry: Expiry;
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
const NO_TERMS: WantedTerms = {};
const NO_RECORDS: ReadonlyMap<number, CreatedRecord<Code>> = new Map();
const TAKEN: Taken = { kind: "taken" };

/** A request, and its outcome so far. */
interface Entry {
  outcome: Link | Problem;
  /** Whether this request has created the link, and no other one with its key. */
  isNew: boolean;
}

/** A link to insert, without a code if that is to be generated. It counts as taken until it is inserted. */
interface Draft extends Entry, Omit<Link, "code" | "terms">, Pick<NewLink<Code>, "keyPrefix"> {
  readonly nth: number;
  readonly request: CreateRequest;
  readonly code: Code | undefined;
  /** The code of the last try. */
  triedCode: Code | undefined;
  terms: Link["terms"];
}
type Insert<Reused> = (
  links: readonly NumberedLink<Code>[],
) => Promise<readonly (Omit<CreatedRecord<Code>, "nth"> | Taken)[] | Reused>;

/** Parses a destination, with all rules that apply to new ones. */
export type ParseDestination = (originalUrl: string) => Target | Invalid;

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

export function createDestinationParser({
  targetPolicy,
  blocked,
}: Pick<CreateOptions, "targetPolicy" | "blocked">): ParseDestination {
  return (originalUrl) => {
    const target = parseTarget(originalUrl, targetPolicy);
    return isProblem(target) || blocked(target) === undefined
      ? target
      : invalid({ rule: "target.blocked", host: targetHost(target) });
  };
}

function withCreator(terms: Terms | undefined, createdBy: string | undefined): Terms | undefined {
  return createdBy === undefined ? terms : { ...terms, createdBy };
}

/** There is no other way to create links, so all rules about new ones are applied here. */
export function createLinkCreation(options: CreateOptions): Creating {
  const { store, clock, fillRandom, codeLength, onCreated, onRefused } = options;
  const parseDestination = createDestinationParser(options);

  /** Reusing a code deletes its old link, so no code is reused while the clock may be wrong. */
  function freeIfEndedByMs(nowMs: number): number {
    return clock.trustworthy() ? nowMs - options.codeHoldMs : 0;
  }

  function parse(request: CreateRequest, nth: number, createdMs: number): Draft | Invalid {
    const { originalUrl, customCode, domain, terms: wanted = NO_TERMS, createdBy } = request;
    const target = parseDestination(originalUrl);
    const code = customCode === undefined ? undefined : parseCode(customCode);
    const keyPrefix = domain === undefined ? undefined : options.keyPrefixOf?.(domain);
    const endsMs = endOf(wanted, options.defaultExpiry, createdMs);
    const terms = withCreator(termsOf(wanted, createdMs), createdBy);
    const refusals = [
      ...(isProblem(target) ? target.refusals : NONE),
      ...(isProblem(code) ? code.refusals : NONE),
      ...(domain !== undefined && keyPrefix === undefined ? [{ rule: "domain.unknown" } as const] : NONE),
      ...refuseEnd(endsMs, Math.max(createdMs, terms?.startsMs ?? 0), createdMs),
      ...refuseTerms(wanted),
    ];
    if (isProblem(target) || isProblem(code) || refusals.length > 0) return { kind: "invalid", refusals };
    return {
      nth,
      request,
      keyPrefix,
      code,
      originalUrl,
      target,
      createdMs,
      endsMs,
      terms,
      triedCode: undefined,
      outcome: TAKEN,
      isNew: false,
    };
  }

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

  /** One after the other, because each takes a core for 20 ms, and other requests have passwords as well. */
  async function hashPasswords(drafts: readonly Draft[]): Promise<void> {
    for (const draft of drafts) {
      const { terms: { password } = NO_TERMS, sharers } = draft.request;
      if (typeof password !== "string") continue;
      draft.terms = { ...draft.terms, passwordHash: await hashPassword(password, sharers) };
    }
  }

  /** Inserts the drafts. A taken code is an outcome, unless it was generated: then another one is tried. */
  async function add<Reused extends KeyReused>(
    drafts: readonly Draft[],
    insert: Insert<Reused>,
  ): Promise<Reused | undefined> {
    const needsCode = drafts.some(({ code }) => code === undefined);
    let length = needsCode ? await lengthOfCodes() : 0;
    let pending = drafts;
    for (let tries = 0; pending.length > 0; tries++, length++) {
      if (tries === MAX_GENERATE_TRIES)
        throw new StoreUnavailable(`no free code after ${MAX_GENERATE_TRIES} tries`);
      const free = freeIfEndedByMs(clock.nowMs());
      // Copying objects with `...` would take several times as long.
      const links = pending.map((draft) => {
        const { nth, keyPrefix, originalUrl, target, createdMs, endsMs, terms } = draft;
        const code = draft.code ?? generateCode(length, fillRandom);
        draft.triedCode = code;
        return { nth, keyPrefix, code, originalUrl, target, createdMs, endsMs, terms, freeIfEndedByMs: free };
      });
      const inserted = await insert(links);
      if ("kind" in inserted) return inserted;
      for (const [at, draft] of pending.entries()) {
        const record = inserted[at];
        if (record === undefined || isProblem(record)) continue;
        const { code, createdMs, endsMs } = record;
        const { originalUrl, target, terms } = draft;
        draft.isNew = code === draft.triedCode && createdMs === draft.createdMs;
        draft.outcome = draft.isNew
          ? { code, originalUrl, target, createdMs, endsMs, terms }
          : replay(draft.request, record);
      }
      pending = pending.filter(({ code, outcome }) => code === undefined && isProblem(outcome));
    }
    return undefined;
  }

  async function lengthOfCodes(): Promise<number> {
    const size = await store.size();
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
    const entries = mapEach(requests, (request, nth): Entry | Draft => {
      const record = known.get(nth);
      if (record !== undefined) return { outcome: replay(request, record), isNew: false };
      const draft = parse(request, nth, createdMs);
      return isProblem(draft) ? { outcome: draft, isNew: false } : draft;
    });
    const drafts = entries.filter((entry): entry is Draft => "request" in entry);
    // Few requests have passwords, and the others need not wait.
    if (requests.some(({ terms }) => typeof terms?.password === "string")) await hashPasswords(drafts);
    const reused = await add(drafts, insert);
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
      const { outcomes } = await createAll([request]);
      return outcomes[0];
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
      const parsed = parse(request, 0, clock.nowMs());
      return isProblem(parsed) ? parsed.refusals : NONE;
    },
  };
}
