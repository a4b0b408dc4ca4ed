import { type ChangeReader, followChanges, type Memory } from "./changes.ts";
import type { Clock } from "./clock.ts";
import { type Code, codeSpace, generateCode, lookUpCode, parseCode } from "./code.ts";
import { endsMs, type Expiry } from "./expiry.ts";
import type { Link } from "./link.ts";
import { isProblem, type Problem } from "./problem.ts";
import { type LinkStore, StoreUnavailable } from "./store.ts";
import { parseTarget, type TargetPolicy } from "./target.ts";

/** The use cases. Faults of the store are thrown as {@link StoreUnavailable}. */
export interface Links {
  /** The one door for making a link: whatever decides whether and how a link is made is behind it. */
  create(request: CreateRequest): Promise<Link | Problem>;
  /** Whether `create` would give this code now. A hint: between the two, somebody else may take it. */
  availability(written: string): Promise<Availability | Problem>;
  /** What an address's spelling of a code leads to right now. */
  resolve(spelling: string): Promise<Link | Problem>;
  /** The link of an address's spelling, ended or not, for as long as its code is held. */
  find(spelling: string): Promise<Link | Problem>;
  /** Deletes what has ended and is no longer held, in small batches; returns how many links it deleted. */
  purge(): Promise<number>;
  /** Keeps a memory of links up to date: each read of the reader tells it what changed, in any process. */
  follow(memory: Memory): Promise<ChangeReader>;
}

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
  readonly defaultExpiry: Expiry;
  readonly codeLength: number;
  /** How long the code of an ended link stays held. */
  readonly codeHoldMs: number;
  readonly onCreated: (link: Link) => void;
}

/** Generated codes grow by one character once this share of their space is in use. */
const MAX_SPACE_USED = 1 / 10_000;
const MAX_GENERATE_TRIES = 8;
const PURGE_BATCH = 500;
/** A purge stops here and leaves the rest to the next one. */
const MAX_PURGE_BATCHES = 200;

/** The half that only reads. */
export function createLookUps({
  store,
  clock,
  codeHoldMs,
}: Pick<LinksOptions, "codeHoldMs"> & {
  readonly store: Pick<LinkStore, "find">;
  readonly clock: Pick<Clock, "nowMs">;
}): Pick<Links, "resolve" | "find"> {
  async function look(spelling: string): Promise<Link | undefined> {
    const code = lookUpCode(spelling);
    const link = code === undefined ? undefined : await store.find(code);
    return link !== undefined && clock.nowMs() < link.endsMs + codeHoldMs ? link : undefined;
  }

  return {
    async resolve(spelling) {
      const link = await look(spelling);
      if (link === undefined) return { kind: "unknown" };
      return clock.nowMs() < link.endsMs ? link : { kind: "expired", endedMs: link.endsMs };
    },
    find: async (spelling) => (await look(spelling)) ?? { kind: "unknown" },
  };
}

export function createLinks(options: LinksOptions): Links {
  const { store, clock, fillRandom, targetPolicy, defaultExpiry, codeLength, codeHoldMs, onCreated } =
    options;

  async function add(code: Code, originalUrl: string, target: Link["target"], expiry: Expiry) {
    const createdMs = clock.nowMs();
    const link: Link = { code, originalUrl, target, createdMs, endsMs: endsMs(createdMs, expiry) };
    const [outcome] = await store.insert([{ ...link, freeIfEndedByMs: freeIfEndedByMs(createdMs) }]);
    if (outcome === undefined || "kind" in outcome) return undefined;
    onCreated(outcome);
    return outcome;
  }

  /** Giving a code anew deletes a link, and what a wrong clock deletes is gone. */
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

  return {
    async create({ originalUrl, customCode, expiry = defaultExpiry }) {
      const target = parseTarget(originalUrl, targetPolicy);
      const code = customCode === undefined ? undefined : parseCode(customCode);
      if (isProblem(target) || isProblem(code)) {
        const refusals = [target, code].filter(isProblem).flatMap((problem) => problem.refusals);
        return { kind: "invalid", refusals };
      }
      if (code === undefined) return addGenerated(originalUrl, target, expiry);
      return (await add(code, originalUrl, target, expiry)) ?? { kind: "taken" };
    },

    async availability(written) {
      const code = parseCode(written);
      if (isProblem(code)) return code;
      const link = await store.find(code);
      return { code, available: link === undefined || link.endsMs <= freeIfEndedByMs(clock.nowMs()) };
    },

    ...createLookUps({ store, clock, codeHoldMs }),

    async purge() {
      let purged = 0;
      for (let batch = 0; batch < MAX_PURGE_BATCHES && clock.trustworthy(); batch++) {
        const deleted = await store.purge(clock.nowMs() - codeHoldMs, PURGE_BATCH);
        purged += deleted;
        if (deleted < PURGE_BATCH) break;
      }
      return purged;
    },

    follow: (memory) => followChanges(store, memory),
  };
}
