import type { Change, Edit } from "./change.ts";
import type { Clock } from "./clock.ts";
import type { Creation } from "./create.ts";
import type { createLinkCheck } from "./link-check.ts";
import { type FoundLink, hasStarted, type Link } from "./link.ts";
import { hashPassword } from "./password.ts";
import { type Invalid, invalid, isProblem, type Problem } from "./problem.ts";
import type { LinkId, LinkStore } from "./store.ts";
import { refuseEnd, refuseStart, refuseTerms } from "./terms.ts";
import { DAY_MS, type Duration, instantOf, type When } from "./time.ts";

/** What the maker of a link can do with it. Nothing can be done with a link that is over. */
export interface Editing {
  /** Changes a link, and returns it as it is now. */
  edit(link: FoundLink, request: EditRequest): Promise<Link | Problem | EditsClosed>;
  /** Ends a link at once, also if it is disabled. */
  withdraw(link: LinkId): Promise<Link | Problem>;
}

/** Undefined leaves a value as it is, and null removes it. */
export interface EditRequest {
  readonly originalUrl?: string | undefined;
  readonly expiry?: When | undefined;
  /** Null: now, unless it has begun already. */
  readonly starts?: Duration | number | null | undefined;
  readonly maxVisits?: number | null | undefined;
  readonly password?: string | null | undefined;
}

/** Targets cannot be changed any more, or never could. */
export interface EditsClosed {
  readonly kind: "edits.closed";
}

/** For how long after its creation the target of a link may change. */
export type Edits = "on" | "24h" | "off";

export interface EditingOptions {
  readonly store: Pick<LinkStore, "update">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly parseDestination: Creation["parseDestination"];
  readonly brokenBy: ReturnType<typeof createLinkCheck>["brokenBy"];
  readonly edits: Edits;
}

const EDITABLE_MS: Readonly<Record<Edits, number>> = { on: Number.POSITIVE_INFINITY, "24h": DAY_MS, off: 0 };

/** Until when the target of a link may change. */
export function editableUntilMs({ createdMs }: Pick<Link, "createdMs">, edits: Edits): number {
  return createdMs + EDITABLE_MS[edits];
}

/** Undefined if the link begins when it did before. */
function newStartMs(link: FoundLink, starts: EditRequest["starts"], atMs: number): number | undefined {
  if (starts === undefined) return undefined;
  if (starts === null) return hasStarted(link, atMs) ? undefined : atMs;
  const startsMs = instantOf(atMs, starts);
  return startsMs === link.terms?.startsMs ? undefined : startsMs;
}

export function createEditing(options: EditingOptions): Editing {
  const { store, clock, parseDestination, brokenBy, edits } = options;

  /** Only the target can deceive those who know the link, so everything else may always change. */
  function isClosed(link: FoundLink, request: EditRequest, atMs: number): boolean {
    const isNewTarget = request.originalUrl !== undefined && request.originalUrl !== link.originalUrl;
    return isNewTarget && atMs >= editableUntilMs(link, edits);
  }

  function parse(link: FoundLink, request: EditRequest, atMs: number): Edit | Invalid {
    const { originalUrl, expiry, starts, maxVisits } = request;
    const target = originalUrl === undefined ? undefined : parseDestination(originalUrl);
    const ends = expiry === undefined ? undefined : instantOf(atMs, expiry);
    const startsMs = newStartMs(link, starts, atMs);
    const fromMs = Math.max(atMs, startsMs ?? link.terms?.startsMs ?? 0);
    const refusals = [
      ...(isProblem(target) ? target.refusals : []),
      ...refuseEnd(ends ?? link.endsMs, fromMs, atMs),
      ...(startsMs === undefined ? [] : refuseStart(startsMs, atMs, hasStarted(link, atMs))),
      ...refuseTerms(request),
    ];
    if (isProblem(target) || refusals.length > 0) return { kind: "invalid", refusals };
    const destination =
      originalUrl === undefined || target === undefined ? undefined : { originalUrl, target };
    return { destination, endsMs: ends, startsMs, maxVisits };
  }

  async function update({ code, createdMs }: LinkId, change: Change): Promise<Link | Problem> {
    const { link, isChanged } = await store.update({ code, createdMs }, change);
    if (link === undefined) return { kind: "unknown" };
    // Another request may have let it begin meanwhile.
    const hasStart = change.type === "edit" && change.startsMs !== undefined;
    if (!isChanged && hasStart && hasStarted(link, change.atMs)) return invalid({ rule: "starts.begun" });
    return isChanged ? link : (brokenBy(link) ?? link);
  }

  return {
    async edit(link, request) {
      const atMs = clock.nowMs();
      const problem = brokenBy(link);
      if (problem !== undefined) return problem;
      if (isClosed(link, request, atMs)) return { kind: "edits.closed" };
      const edit = parse(link, request, atMs);
      if (isProblem(edit)) return edit;
      const { password } = request;
      const passwordHash = typeof password === "string" ? await hashPassword(password) : password;
      return update(link, { type: "edit", atMs, ...edit, passwordHash });
    },

    withdraw: (link) => update(link, { type: "withdraw", atMs: clock.nowMs() }),
  };
}
