/** A link in the store; undefined if the code was never created. */
export interface LinkState {
  readonly target: string;
  readonly isDisabled: boolean;
  readonly isEnded: boolean;
}

type Action =
  | { readonly kind: "create"; readonly target: string }
  | { readonly kind: "disable" | "enable" | "end" | "follow" | "find" };

/**
 * `unknown`: it may take effect at any time from its call on. `same`: there was nothing to do. `redirect` and `off` are 302
 * and 410.
 */
type Outcome =
  | { readonly kind: "unknown" | "done" | "same" | "missing" | "off" }
  | { readonly kind: "redirect"; readonly target: string }
  | { readonly kind: "found"; readonly link: LinkState };

/** A call for a code, and its outcome. Times are in milliseconds of a monotonic clock. */
export interface Operation {
  readonly code: string;
  readonly action: Action;
  readonly outcome: Outcome;
  readonly calledMs: number;
  readonly answeredMs: number;
  /** The instance that was called. */
  readonly instance?: number;
  /** Earlier than the call if the instance couldn't read changes since then. */
  readonly heardUntilMs?: number;
  /** Whether the instance also reads from standbys. */
  readonly readsStandbys?: boolean;
}

/** A redirect may come from memory, which must drop disabled and withdrawn links within this time. */
const STALE_MS = 1000;

/** A standby may show a link this much earlier than its commit returns. The primary doesn't. */
const AHEAD_MS = 2000;

/** One way in which all outcomes so far can have happened. */
interface Explanation {
  readonly state: LinkState | undefined;
  /** Operations that have taken effect in it, even if their response is outstanding. */
  readonly done: ReadonlySet<Operation>;
}

/**
 * Returns the first operation whose outcome no order of operations explains, each taking effect between its call and its
 * response. Codes don't affect each other, so each is checked alone.
 */
export function findViolation(history: readonly Operation[]): Operation | undefined {
  for (const operations of Map.groupBy(history, ({ code }) => code).values()) {
    const violation = findViolationOfCode(operations);
    if (violation !== undefined) return violation;
  }
  return undefined;
}

/**
 * Keeps all explanations from one response to the next. An operation without a response takes effect in them only if a
 * response can't be explained without it.
 */
function findViolationOfCode(operations: readonly Operation[]): Operation | undefined {
  const pending = new Set<Operation>();
  let explanations: readonly Explanation[] = [{ state: undefined, done: new Set() }];
  for (const { operation, isCall } of eventsOf(operations)) {
    if (isCall) {
      pending.add(operation);
      explanations = explanations.map((one) => withReads(one, [operation]));
      continue;
    }
    explanations = explain(operation, explanations, pending);
    if (explanations.length === 0) return operation;
    pending.delete(operation);
  }
  return undefined;
}

function eventsOf(operations: readonly Operation[]) {
  const events = operations.flatMap((operation) => {
    const { action, outcome, calledMs, answeredMs, heardUntilMs = calledMs } = operation;
    const isFromMemory = action.kind === "follow" && outcome.kind === "redirect";
    const call = { operation, isCall: true, atMs: isFromMemory ? heardUntilMs - STALE_MS : calledMs };
    if (outcome.kind === "unknown") return [call];
    const isAhead = isFromMemory && operation.readsStandbys === true;
    return [call, { operation, isCall: false, atMs: answeredMs + (isAhead ? AHEAD_MS : 0) }];
  });
  // Of equal times, calls come first: then both orders are allowed.
  return events.toSorted((a, b) => a.atMs - b.atMs || Number(b.isCall) - Number(a.isCall));
}

/** All explanations in which `operation` has taken effect, as late as possible. */
function explain(
  operation: Operation,
  explanations: readonly Explanation[],
  pending: ReadonlySet<Operation>,
): Explanation[] {
  const explained = new Map<string, Explanation>();
  const open = [...explanations];
  const seen = new Set<string>();
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (one.done.has(operation)) {
      const done = new Set(one.done);
      done.delete(operation);
      explained.set(keyOf({ ...one, done }, pending), { ...one, done });
      continue;
    }
    const tried = new Set<string>();
    for (const next of pending) {
      if (one.done.has(next) || !mayChange(next)) continue;
      const state = after(next, one.state);
      if (state === one.state || state === "impossible") continue;
      // One of several unknown outcomes with the same effect is enough.
      const what = next.outcome.kind === "unknown" ? JSON.stringify(next.action) : "";
      if (what !== "" && tried.has(what)) continue;
      tried.add(what);
      const then = withReads({ state, done: new Set(one.done).add(next) }, pending);
      const key = keyOf(then, pending);
      if (!seen.has(key)) open.push(then);
      seen.add(key);
    }
  }
  return [...explained.values()];
}

/** Operations without a change take effect as soon as they can. */
function withReads({ state, done }: Explanation, operations: Iterable<Operation>): Explanation {
  const reads = [...operations].filter((one) => !mayChange(one) && after(one, state) !== "impossible");
  return { state, done: new Set([...done, ...reads]) };
}

function keyOf({ state, done }: Explanation, pending: ReadonlySet<Operation>): string {
  const which = [...pending].map((operation) => (done.has(operation) ? "1" : "0"));
  return `${JSON.stringify(state)} ${which.join("")}`;
}

const CHANGES: ReadonlySet<string> = new Set(["create", "disable", "enable", "end"]);

function mayChange({ action, outcome }: Operation): boolean {
  return CHANGES.has(action.kind) && (outcome.kind === "done" || outcome.kind === "unknown");
}

/** The state after an operation, if its outcome is possible in `state`. */
function after(
  { action, outcome }: Operation,
  state: LinkState | undefined,
): LinkState | undefined | "impossible" {
  if (outcome.kind === "unknown") return changed(action, state);
  if (outcome.kind === "done") {
    const next = changed(action, state);
    return next === state ? "impossible" : next;
  }
  return isTrue({ action, outcome }, state) ? state : "impossible";
}

function changed(action: Action, state: LinkState | undefined): LinkState | undefined {
  if (state === undefined)
    return action.kind === "create"
      ? { target: action.target, isDisabled: false, isEnded: false }
      : undefined;
  if (action.kind === "disable" && !state.isDisabled) return { ...state, isDisabled: true };
  if (action.kind === "enable" && state.isDisabled) return { ...state, isDisabled: false };
  if (action.kind === "end" && !state.isEnded) return { ...state, isEnded: true };
  return state;
}

function isTrue(
  { action, outcome }: Pick<Operation, "action" | "outcome">,
  state: LinkState | undefined,
): boolean {
  if (outcome.kind === "missing") return state === undefined;
  if (state === undefined) return false;
  const isOff = state.isDisabled || state.isEnded;
  if (outcome.kind === "off") return isOff;
  if (outcome.kind === "redirect") return !isOff && state.target === outcome.target;
  if (outcome.kind === "found") return Bun.deepEquals(state, outcome.link);
  return changed(action, state) === state;
}
