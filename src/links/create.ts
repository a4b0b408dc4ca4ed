import { orNone } from "./change.ts";
import type { Clock } from "./clock.ts";
import { type Code, codeSpace, generateCode, parseCode } from "./code.ts";
import { type Duration, endsMs, type Expiry, type When } from "./expiry.ts";
import type { Link, Reason } from "./link.ts";
import { hashPassword } from "./password.ts";
import { type Invalid, invalid, isProblem, type Problem, type Refusal } from "./problem.ts";
import {
  type KeyedRequest,
  type KeyReused,
  type LinkStore,
  type Made,
  type NumberedLink,
  StoreUnavailable,
} from "./store.ts";
import { parseTarget, type Target, targetHost, type TargetPolicy } from "./target.ts";
import { refuseEnd, refuseTerms } from "./terms.ts";
import { freeVariants } from "./variants.ts";

/** How links are made. There is no other way, so all rules about new links are applied here. */
export interface Creation {
  create(request: CreateRequest): Promise<Link | Problem>;
  /** Creates links. The outcomes are in the order of the requests, and a problem of one does not affect the others. */
  createAll(requests: readonly CreateRequest[]): Promise<Created>;
  /** What was made when requests were first sent, at most one record for each. */
  recall(sent: SentAgain): Promise<readonly Made[] | KeyReused>;
  /** The same as `createAll`, for requests that may be sent again. What `recall` tells is told again as it was then. */
  createOnce(
    requests: readonly CreateRequest[],
    sent: SentAgain,
    before: readonly Made[],
  ): Promise<Created | KeyReused>;
  /** Tells whether a code is free now. Nothing is reserved: somebody else may take it before `create` is called. */
  availability(written: string): Promise<Availability | Problem>;
  /** Parses a destination, with all rules that apply to new ones. */
  parseDestination(originalUrl: string): Target | Invalid;
  /** All that is wrong with the values of a request, whose link is not made. */
  refusalsOf(request: CreateRequest): readonly Refusal[];
}

/** How requests are known again: their key, and all that they are. Both are keyed hashes. */
export type SentAgain = Omit<KeyedRequest, "sentMs">;

/** What became of each request, and how many links were made now: not before, and not by another request with the key. */
interface Created {
  readonly outcomes: readonly (Link | Problem)[];
  readonly made: number;
}

export interface CreateRequest {
  readonly originalUrl: string;
  readonly customCode?: string | undefined;
  /** Undefined: the default. Durations count from now. */
  readonly expiry?: When | undefined;
  readonly starts?: Duration | number | undefined;
  readonly maxVisits?: number | undefined;
  readonly password?: string | undefined;
}

interface Availability {
  readonly code: Code;
  readonly available: boolean;
  /** If it is taken, codes like it that are not. */
  readonly free: readonly Code[];
}

/** Tells why links to a target must not work, if so. DetachedCall whenever a link is made or looked up in the store. */
export type Blocked = (target: Target) => Reason | "blocklist" | undefined;

export interface CreationOptions {
  readonly store: LinkStore;
  readonly clock: Clock;
  /** Fills an array with bytes from a CSPRNG. */
  readonly fillRandom: (bytes: Uint8Array) => void;
  readonly targetPolicy: TargetPolicy;
  readonly blocked: Blocked;
  readonly defaultExpiry: Expiry;
  readonly codeLength: number;
  /** How long after its link's end a code cannot be reused. */
  readonly codeHoldMs: number;
  readonly onCreated: (link: Link) => void;
  readonly onRefused: (problem: Problem) => void;
}

/** Generated codes get one character longer once this share of all codes of their length is in use. */
const MAX_SPACE_USED = 1 / 10_000;
const MAX_GENERATE_TRIES = 8;
/** What nearly all creates have. Making it anew would cost each of them a little. */
const NONE: readonly never[] = [];
const NOTHING_MADE: ReadonlyMap<number, Made> = new Map();

/** A link without its code, if that is to be generated. */
type Draft = Omit<Link, "code"> & { readonly nth: number; readonly code: Code | undefined };
type Insert = (links: readonly NumberedLink[]) => ReturnType<LinkStore["insertOnce"]>;

export function createCreation(options: CreationOptions): Creation {
  const { store, clock, fillRandom, targetPolicy, blocked, codeLength, onCreated, onRefused } = options;

  function parseDestination(originalUrl: string): Target | Invalid {
    const target = parseTarget(originalUrl, targetPolicy);
    return isProblem(target) || blocked(target) === undefined
      ? target
      : invalid({ rule: "target.blocked", host: targetHost(target) });
  }

  /** Reusing a code deletes its old link. So no code is reused while the clock may be wrong. */
  function freeIfEndedByMs(nowMs: number): number {
    return clock.trustworthy() ? nowMs - options.codeHoldMs : 0;
  }

  function parse(request: CreateRequest, nth: number, createdMs: number): Draft | Invalid {
    const { originalUrl, customCode, expiry = options.defaultExpiry, starts, maxVisits } = request;
    const target = parseDestination(originalUrl);
    const code = customCode === undefined ? undefined : parseCode(customCode);
    const startsMs = starts === undefined ? undefined : endsMs(createdMs, starts);
    const ends = endsMs(createdMs, expiry);
    const refusals = [
      ...(isProblem(target) ? target.refusals : NONE),
      ...(isProblem(code) ? code.refusals : NONE),
      ...refuseEnd(ends, Math.max(createdMs, startsMs ?? 0), createdMs),
      ...refuseTerms(request),
    ];
    if (isProblem(target) || isProblem(code) || refusals.length > 0) return { kind: "invalid", refusals };
    const hasTerms = startsMs !== undefined || maxVisits !== undefined;
    const terms = hasTerms ? orNone({ startsMs, maxVisits }) : undefined;
    return { nth, code, originalUrl, target, createdMs, endsMs: ends, terms };
  }

  /** What an earlier request made, as it was then. */
  function recalled(
    { originalUrl, starts, maxVisits, password }: CreateRequest,
    made: Omit<Made, "nth">,
  ): Link {
    const { code, createdMs } = made;
    // It was accepted before, so it can be parsed.
    const target = (URL.parse(originalUrl)?.href ?? originalUrl) as Target;
    const startsMs = starts === undefined ? undefined : endsMs(createdMs, starts);
    const passwordHash = password === undefined ? undefined : "";
    const terms = orNone({ startsMs, maxVisits, passwordHash });
    return { code, originalUrl, target, createdMs, endsMs: made.endsMs, terms };
  }

  /** One after the other: each takes a core for 20 ms, and others have passwords, too. */
  async function withPasswords(
    drafts: readonly (Draft | Invalid | undefined)[],
    requests: readonly CreateRequest[],
  ): Promise<readonly (Draft | Invalid | undefined)[]> {
    const done = [...drafts];
    for (const [nth, { password }] of requests.entries()) {
      const draft = drafts[nth];
      if (password === undefined || draft === undefined || isProblem(draft)) continue;
      const passwordHash = await hashPassword(password);
      done[nth] = { ...draft, terms: { ...draft.terms, passwordHash } };
    }
    return done;
  }

  /** Returns the links in the order of the drafts, or that their code is taken. Generates other codes where needed. */
  async function add(drafts: readonly Draft[], insert: Insert) {
    const outcomes = new Map<number, Link | Extract<Problem, { kind: "taken" }>>();
    /** Links that another request with the same key made first. */
    const others = new Set<number>();
    const needsCode = drafts.some(({ code }) => code === undefined);
    let length = needsCode ? await lengthOfCodes() : 0;
    let left = drafts;
    for (let tries = 0; left.length > 0; tries++, length++) {
      if (tries === MAX_GENERATE_TRIES)
        throw new StoreUnavailable(`no free code after ${MAX_GENERATE_TRIES} tries`);
      const free = freeIfEndedByMs(clock.nowMs());
      // Written out, because copying an object takes several times as long.
      const links = left.map(({ nth, code, originalUrl, target, createdMs, endsMs: ends, terms }) => ({
        nth,
        code: code ?? generateCode(length, fillRandom),
        originalUrl,
        target,
        createdMs,
        endsMs: ends,
        terms,
        freeIfEndedByMs: free,
      }));
      const inserted = await insert(links);
      if ("kind" in inserted) return inserted;
      for (let at = 0; at < links.length; at++) {
        const asked = links[at] as NumberedLink;
        const { nth, originalUrl, target, terms } = asked;
        const made = inserted[at];
        if (made === undefined || isProblem(made)) outcomes.set(nth, { kind: "taken" });
        else {
          const { code, createdMs, endsMs: ends } = made;
          outcomes.set(nth, { code, originalUrl, target, createdMs, endsMs: ends, terms });
          if (code !== asked.code || createdMs !== asked.createdMs) others.add(nth);
        }
      }
      left = left.filter(({ nth, code }) => code === undefined && isProblem(outcomes.get(nth)));
    }
    return { outcomes, others };
  }

  async function lengthOfCodes(): Promise<number> {
    const size = await store.size();
    let length = codeLength;
    while (size > codeSpace(length) * MAX_SPACE_USED) length++;
    return length;
  }

  async function decide(
    requests: readonly CreateRequest[],
    insert: Insert,
    before: readonly Made[] = [],
  ): Promise<Created | KeyReused> {
    let made = 0;
    const createdMs = clock.nowMs();
    const known = before.length === 0 ? NOTHING_MADE : new Map(before.map((record) => [record.nth, record]));
    const parsed = requests.map((request, nth) =>
      known.has(nth) ? undefined : parse(request, nth, createdMs),
    );
    // Hardly any have one, and the others need not wait.
    const hasPasswords = requests.some(({ password }) => password !== undefined);
    const drafts = hasPasswords ? await withPasswords(parsed, requests) : parsed;
    const added = await add(
      drafts.filter((draft): draft is Draft => draft !== undefined && !isProblem(draft)),
      insert,
    );
    if ("kind" in added) return added;
    const outcomes = requests.map((request, nth) => {
      const earlier = known.get(nth);
      if (earlier !== undefined) return recalled(request, earlier);
      const draft = drafts[nth];
      const outcome = draft === undefined || isProblem(draft) ? draft : added.outcomes.get(nth);
      if (outcome === undefined) throw new Error("Every request has an outcome");
      if (isProblem(outcome)) onRefused(outcome);
      else if (added.others.has(nth)) return recalled(request, outcome);
      else {
        made++;
        onCreated(outcome);
      }
      return outcome;
    });
    return { outcomes, made };
  }

  async function isFree(code: Code): Promise<boolean> {
    const link = await store.find(code);
    if (link === undefined) return true;
    return link.disabled === undefined && link.endsMs <= freeIfEndedByMs(clock.nowMs());
  }

  const insertAll: Insert = (links) => store.insert(links) as ReturnType<Insert>;

  async function createAll(requests: readonly CreateRequest[]): Promise<Created> {
    const created = await decide(requests, insertAll);
    if ("kind" in created) throw new Error("A request without a key cannot have one that is in use");
    return created;
  }

  return {
    async create(request) {
      const [outcome] = (await createAll([request])).outcomes;
      if (outcome === undefined) throw new Error("Every request has an outcome");
      return outcome;
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
      return { code, available, free: available ? NONE : await freeVariants(code, isFree) };
    },

    parseDestination,

    refusalsOf(request) {
      const parsed = parse(request, 0, clock.nowMs());
      return isProblem(parsed) ? parsed.refusals : NONE;
    },
  };
}
