import type { CreateRequest, RepeatableRequest } from "../../links/create.ts";
import type { Link } from "../../links/link.ts";
import type { Links } from "../../links/links.ts";
import { isProblem, type Problem } from "../../links/problem.ts";
import { createQueue } from "../../links/queue.ts";
import { type CreatedRecord, StoreUnavailable } from "../../links/store.ts";
import type { Call } from "../call.ts";
import type { Limiter } from "../limiter.ts";
import type { Limited } from "../problems.ts";

export interface MakingOptions {
  readonly links: Pick<Links, "createAll" | "createOnce" | "recall">;
  readonly limiter: Pick<Limiter, "take">;
}

/** Why none of the links is made. */
type Refused = Limited | { readonly kind: "idempotency.reused" };

/** Of up to 500 links. Together they leave room in the store's queue for the links that others make one by one. */
const GROUPS = { atOnce: 8, waiting: 64 };

const REUSED = { kind: "idempotency.reused" } as const;

/**
 * Counts links against the client's limits and makes them. What was made when the request was first sent costs nothing: a
 * client that has used up its limits is told again what came of it.
 */
export function createMaking({ links, limiter }: MakingOptions) {
  const inTurn = createQueue(GROUPS);

  async function make(
    call: Call,
    requests: readonly CreateRequest[],
    sent: RepeatableRequest | undefined,
    before: readonly CreatedRecord[],
  ): Promise<readonly (Link | Problem)[] | Refused> {
    const counted = requests.length - before.length;
    const giveBack = counted === 0 ? () => {} : await limiter.take(call, "create", counted);
    if (isProblem(giveBack)) return giveBack;
    let failed = counted;
    const makeNow = () =>
      sent === undefined ? links.createAll(requests) : links.createOnce(requests, sent, before);
    try {
      const created = await (requests.length > 1 ? inTurn(makeNow) : makeNow());
      if (created === undefined) throw new StoreUnavailable("too many links wait to be made");
      if ("kind" in created) return REUSED;
      failed = counted - created.created;
      return created.outcomes;
    } finally {
      giveBack(failed);
    }
  }

  async function recall(sent: RepeatableRequest | undefined): Promise<readonly CreatedRecord[] | Refused> {
    const before = sent === undefined ? [] : await links.recall(sent);
    return "kind" in before ? REUSED : before;
  }

  /** All links or, if they are more than the client may make now, none. */
  async function makeAll(
    call: Call,
    requests: readonly CreateRequest[],
    sent: RepeatableRequest | undefined,
  ): Promise<readonly (Link | Problem)[] | Refused> {
    const before = await recall(sent);
    return "kind" in before ? before : make(call, requests, sent, before);
  }

  return {
    makeAll,

    async makeOnce(
      call: Call,
      request: CreateRequest,
      sent: RepeatableRequest,
    ): Promise<Link | Problem | Refused> {
      const outcomes = await makeAll(call, [request], sent);
      if (isProblem(outcomes)) return outcomes;
      const [outcome] = outcomes;
      if (outcome === undefined) throw new Error("Every request has an outcome");
      return outcome;
    },
  };
}

export type Making = ReturnType<typeof createMaking>;
