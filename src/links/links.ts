import { type ChangeReader, followChanges, type Memory } from "./changes.ts";
import type { Clock } from "./clock.ts";
import { type Code, codeSpace, generateCode, lookUpCode, parseCode } from "./code.ts";
import { endsMs, type Expiry } from "./expiry.ts";
import type { DisabledReason, Link, Reason } from "./link.ts";
import { type Invalid, invalid, isProblem, type Problem } from "./problem.ts";
import { type LinkStore, StoreUnavailable } from "./store.ts";
import { parseTarget, type Target, targetHost, type TargetPolicy } from "./target.ts";

/** The use cases. All of them reject with {@link StoreUnavailable} if the store cannot answer. */
export interface Links {
  /** Creates a link. There is no other way to create one, so all rules about new links are applied here. */
  create(request: CreateRequest): Promise<Link | Problem>;
  /** Tells whether a code is free now. Nothing is reserved: somebody else may take it before `create` is called. */
  availability(written: string): Promise<Availability | Problem>;
  /** Returns the link to redirect to, for a code as an address spells it; a problem if it is disabled or has ended. */
  resolve(spelling: string): Promise<Link | Problem>;
  /** The same at once, for a code as it is stored. Missing if the store cannot; throws {@link StoreUnavailable}. */
  readonly resolveNow?: ((code: Code) => Link | Problem) | undefined;
  /**
   * Returns the link of a code as an address spells it. Links that have ended are found until their hold is over, and
   * disabled ones always, unless they were deleted.
   */
  find(spelling: string): Promise<FoundLink | Problem>;
  /** Deletes links whose hold is over, in small batches. Returns the number of deleted links. */
  purge(): Promise<number>;
  /** Keeps a cache of links up to date. Each `read` makes it forget the links that any process has changed. */
  follow(memory: Memory): Promise<ChangeReader>;
}

/** `disabled` is the link's own state, or else the rule that applies to its target. */
export interface FoundLink extends Omit<Link, "disabled"> {
  readonly disabled: Exclude<DisabledReason, "deleted"> | undefined;
}

/** Tells why links to a target must not work, if so. Asked whenever a link is made or looked up in the store. */
export type Blocked = (target: Target) => Reason | "blocklist" | undefined;

interface CreateRequest {
  readonly originalUrl: string;
  readonly customCode?: string | undefined;
  readonly expiry?: Expiry | undefined;
}

interface Availability {
  readonly code: Code;
  readonly available: boolean;
}

export interface LinksOptions {
  readonly store: LinkStore;
  readonly clock: Clock;
  /** Fills an array with bytes from a CSPRNG. */
  readonly fillRandom: (bytes: Uint8Array) => void;
  readonly targetPolicy: TargetPolicy;
  readonly blocked: Blocked;
  /** Reads anew what `blocked` tells from, after another process may have changed it. */
  readonly readRules: () => Promise<void>;
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
const PURGE_BATCH = 500;
/** The next purge deletes the rest. */
const MAX_PURGE_BATCHES = 200;

/** The half that only reads. */
export function createLookUps({
  store,
  clock,
  codeHoldMs,
  blocked,
}: Pick<LinksOptions, "codeHoldMs" | "blocked"> & {
  readonly store: Pick<LinkStore, "find" | "findNow" | "findNear">;
  readonly clock: Pick<Clock, "nowMs">;
}): Pick<Links, "resolve" | "resolveNow" | "find"> {
  const { find, findNow, findNear } = store;

  async function look(spelling: string, where = find): Promise<Link | undefined> {
    const code = lookUpCode(spelling);
    return code === undefined ? undefined : unlessOver(await where(code));
  }

  /** A link whose hold is over counts as purged. */
  function unlessOver(link: Link | undefined): Link | undefined {
    if (link === undefined || link.disabled !== undefined) return link;
    return clock.nowMs() >= link.endsMs + codeHoldMs ? undefined : link;
  }

  const reasonOf = (link: Link) => link.disabled ?? blocked(link.target);

  function unlessBroken(link: Link | undefined): Link | Problem {
    if (link === undefined) return { kind: "unknown" };
    const reason = reasonOf(link);
    if (reason !== undefined) return { kind: "disabled", reason };
    return clock.nowMs() < link.endsMs ? link : { kind: "expired", endedMs: link.endsMs };
  }

  return {
    async resolve(spelling) {
      const near = findNear && unlessBroken(await look(spelling, findNear));
      // A link that was just made or enabled may not be known there.
      return near === undefined || isProblem(near) ? unlessBroken(await look(spelling)) : near;
    },
    resolveNow: findNow && ((code) => unlessBroken(unlessOver(findNow(code)))),
    async find(spelling) {
      const link = await look(spelling);
      if (link === undefined) return { kind: "unknown" };
      const disabled = reasonOf(link);
      return disabled === "deleted" ? { kind: "disabled", reason: disabled } : { ...link, disabled };
    },
  };
}

export function createLinks(options: LinksOptions): Links {
  const {
    store,
    clock,
    fillRandom,
    targetPolicy,
    blocked,
    defaultExpiry,
    codeLength,
    codeHoldMs,
    onCreated,
    onRefused,
  } = options;

  function parseAllowed(originalUrl: string): Target | Invalid {
    const target = parseTarget(originalUrl, targetPolicy);
    return isProblem(target) || blocked(target) === undefined
      ? target
      : invalid({ rule: "target.blocked", host: targetHost(target) });
  }

  async function add(code: Code, originalUrl: string, target: Link["target"], expiry: Expiry) {
    const createdMs = clock.nowMs();
    const link: Link = { code, originalUrl, target, createdMs, endsMs: endsMs(createdMs, expiry) };
    const [outcome] = await store.insert([{ ...link, freeIfEndedByMs: freeIfEndedByMs(createdMs) }]);
    if (outcome === undefined || isProblem(outcome)) return undefined;
    onCreated(outcome);
    return outcome;
  }

  /** Reusing a code deletes its old link. So no code is reused while the clock may be wrong. */
  function freeIfEndedByMs(nowMs: number): number {
    return clock.trustworthy() ? nowMs - codeHoldMs : 0;
  }

  async function addGenerated(originalUrl: string, target: Link["target"], expiry: Expiry): Promise<Link> {
    const size = await store.size();
    let length = codeLength;
    while (size > codeSpace(length) * MAX_SPACE_USED) length++;
    for (let tries = 0; tries < MAX_GENERATE_TRIES; tries++) {
      const link = await add(generateCode(length, fillRandom), originalUrl, target, expiry);
      if (link !== undefined) return link;
      length++;
    }
    throw new StoreUnavailable(`no free code after ${MAX_GENERATE_TRIES} tries`);
  }

  async function create({ originalUrl, customCode, expiry = defaultExpiry }: CreateRequest) {
    const target = parseAllowed(originalUrl);
    const code = customCode === undefined ? undefined : parseCode(customCode);
    if (isProblem(target) || isProblem(code)) {
      const refusals = [target, code].filter(isProblem).flatMap((problem) => problem.refusals);
      return { kind: "invalid", refusals } as const;
    }
    if (code === undefined) return addGenerated(originalUrl, target, expiry);
    return (await add(code, originalUrl, target, expiry)) ?? ({ kind: "taken" } as const);
  }

  return {
    async create(request) {
      const link: Link | Problem = await create(request);
      if (isProblem(link)) onRefused(link);
      return link;
    },

    async availability(written) {
      const code = parseCode(written);
      if (isProblem(code)) return code;
      const link = await store.find(code);
      const isFree = ({ disabled, endsMs: ends }: Link) =>
        disabled === undefined && ends <= freeIfEndedByMs(clock.nowMs());
      return { code, available: link === undefined || isFree(link) };
    },

    ...createLookUps({ store, clock, codeHoldMs, blocked }),

    async purge() {
      let purged = 0;
      for (let batch = 0; batch < MAX_PURGE_BATCHES && clock.trustworthy(); batch++) {
        const deleted = await store.purge(clock.nowMs() - codeHoldMs, PURGE_BATCH);
        purged += deleted;
        if (deleted < PURGE_BATCH) break;
      }
      return purged;
    },

    follow: (memory) => followChanges(store, memory, options.readRules),
  };
}
