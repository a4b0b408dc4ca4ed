import { type OtherRevision, versionOf } from "../links/change.ts";
import type { WallClock } from "../links/clock.ts";
import { type CodeCase, lookUpKey } from "../links/code.ts";
import type { EditRefusal, EditRequest } from "../links/edit.ts";
import type { Actor, Decided, Decision, EntryId, LinkId, LinkStore, SeenLink } from "../links/link-store.ts";
import type { StoredLink } from "../links/link.ts";
import type { StoredLinks } from "../links/links.ts";
import { isName } from "../links/name.ts";
import { isProblem, type Reason, REASONS, type Unknown } from "../links/problem.ts";
import { canonicalHost } from "../links/target.ts";
import { isRegistrySuffix, parseHost } from "./blocklist/domain-name.ts";
import type { HostRules } from "./host-rules.ts";
import type { ModerationStore } from "./moderation-store.ts";
import { type DecisionRefusal, type RefusedDecision, refuseNote } from "./refusal.ts";

interface DecisionRequest {
  /** For the operator's journal. */
  readonly note?: string | undefined;
}

export interface ReasonedRequest extends DecisionRequest {
  /** One of {@link REASONS}. */
  readonly reason: string;
}

interface ChangeRequest extends DecisionRequest, Pick<EditRequest, "originalUrl" | "terms"> {}

interface HandOverRequest extends DecisionRequest {
  readonly owner: string;
}

interface DecidedHost extends Decided {
  /** As it is stored. */
  readonly host: string;
}

export interface OperatorOptions {
  readonly store: Pick<LinkStore, "find" | "change" | "disable" | "enable" | "handOver" | "erase"> &
    Pick<ModerationStore, "blockHost" | "unblockHost" | "undo">;
  readonly links: Pick<StoredLinks, "find" | "edit">;
  readonly clock: WallClock;
  readonly codeCase: CodeCase;
  readonly refuseRule: RuleCheck;
}

/** Why a host must not be blocked, if so. Takes a canonical host. */
export type RuleCheck = (host: string) => DecisionRefusal[];

export interface RuleCheckOptions {
  readonly hostRules: Pick<HostRules, "size">;
  /** Host names of this service, as in `URL.hostname`. */
  readonly ownHosts: readonly string[];
}

/** A link that was just read, for a decision about exactly this state, or about any if it has no revision. */
export interface ReadLink extends StoredLink {
  readonly revision: string | undefined;
}

/** The link of a case, after its end or its deletion by an import. Its case can be answered. */
export interface GoneLink extends LinkId {
  readonly disabled: "deleted";
}

/** `versions`: those that the operator has seen, see {@link versionOf}. Undefined: any will do. */
export function requireSeen(
  link: StoredLink,
  versions: readonly string[] | undefined,
): ReadLink | OtherRevision {
  if (versions === undefined) return { ...link, revision: undefined };
  const version = versionOf(link);
  return versions.includes(version)
    ? { ...link, revision: version }
    : { kind: "precondition.failed", revision: version };
}

const GONE_VERSION = /^[\da-z]{1,9}$/;

/** The version of a link that is gone. */
export function goneVersion({ createdMs }: LinkId): string {
  return createdMs.toString(36);
}

/** Like {@link requireSeen}, but for a case, whose link may be gone. */
export function requireCase(
  spelling: string,
  found: StoredLink | Unknown,
  versions: readonly string[] | undefined,
  codeCase: CodeCase,
): ReadLink | GoneLink | OtherRevision | Unknown {
  const code = lookUpKey(spelling, codeCase);
  const version = versions?.find((one) => GONE_VERSION.test(one));
  const createdMs = Number.parseInt(version ?? "", 36);
  const isGone = version !== undefined && (isProblem(found) || found.createdMs !== createdMs);
  if (code !== undefined && isGone) return { code, createdMs, disabled: "deleted" };
  return isProblem(found) ? found : requireSeen(found, versions);
}

/** Each process holds all rules in memory. */
export const MAX_RULES = 100_000;

export function createRuleCheck({ hostRules, ownHosts }: RuleCheckOptions): RuleCheck {
  const own = new Set(ownHosts.map(canonicalHost));
  return (host) => {
    if (own.has(host)) return [{ rule: "host.own" }];
    // It would stop all links to a country, most likely by mistake.
    if (isRegistrySuffix(host)) return [{ rule: "host.suffix", host }];
    return hostRules.size() < MAX_RULES ? [] : [{ rule: "host.too-many", max: MAX_RULES }];
  };
}

type Outcome<T = never> = Promise<Decided | T | RefusedDecision | OtherRevision>;

/**
 * The operator's decisions. Each change is durable, and in the operator's journal, when it resolves; every process applies
 * it within a second. Rejects with `StoreUnavailable` if the store cannot answer.
 */
export interface Operator {
  /** Returns the link of a code as it is stored, whatever its state. */
  find(spelling: string): Promise<StoredLink | Unknown>;
  /** Changes a link that redirects or will. */
  change(link: SeenLink, request: ChangeRequest, actor: Actor): Outcome<EditRefusal>;
  /** Disables links, and answers their open cases. */
  disable(links: readonly SeenLink[], request: ReasonedRequest, actor: Actor): Outcome;
  /** A deleted link stays deleted. */
  enable(links: readonly SeenLink[], request: DecisionRequest, actor: Actor): Outcome;
  /** Gives links to a person. */
  handOver(links: readonly SeenLink[], request: HandOverRequest, actor: Actor): Outcome;
  /** Deletes a link permanently, except for its code. */
  erase(link: SeenLink, request: DecisionRequest, actor: Actor): Outcome;
  /** Stops all links to a host and the hosts below it. */
  blockHost(host: string, request: ReasonedRequest, actor: Actor): Promise<DecidedHost | RefusedDecision>;
  unblockHost(host: string, request: DecisionRequest, actor: Actor): Promise<DecidedHost | RefusedDecision>;
  /** Restores what a decision replaced, see {@link ModerationStore.undo}. */
  undo(
    entry: EntryId,
    request: DecisionRequest,
    actor: Actor,
  ): Promise<Awaited<ReturnType<ModerationStore["undo"]>> | RefusedDecision>;
}

export function createOperator({
  store,
  links: { find, edit },
  clock,
  codeCase,
  refuseRule,
}: OperatorOptions): Operator {
  function decide({ note }: DecisionRequest, actor: Actor): Decision {
    return { ...actor, atMs: clock.nowMs(), ...(note !== undefined && note !== "" && { note }) };
  }

  return {
    async find(spelling) {
      const key = lookUpKey(spelling, codeCase);
      const link = key === undefined ? undefined : await store.find(key);
      return link ?? { kind: "unknown" };
    },

    async change({ code, createdMs, revision }, request, actor) {
      const refusals = refuseNote(request.note);
      if (refusals.length > 0) return { kind: "refused", refusals };
      const link = await find(code, "maker");
      if (isProblem(link)) return link;
      if (link.createdMs !== createdMs) return { kind: "unknown" };
      const { originalUrl, terms } = request;
      const ifRevisions = revision === undefined ? undefined : [revision];
      let entry: EntryId | undefined;
      const after = await edit(link, { originalUrl, terms, ifRevisions }, async (id, change) => {
        const updated = await store.change(id, change, decide(request, actor));
        entry = updated.entry;
        return updated;
      });
      if (!isProblem(after)) return { changed: entry === undefined ? 0 : 1, entry };
      if (after.kind !== "precondition.failed") return after;
      const now = await store.find(code);
      return now === undefined ? { kind: "unknown" } : { ...after, revision: versionOf(now) };
    },

    async disable(links, request, actor) {
      const reason = readReason(request.reason);
      const refusals = [...refuseNote(request.note), ...refuseReason(reason)];
      if (reason === undefined || refusals.length > 0) return { kind: "refused", refusals };
      return store.disable(links, { ...decide(request, actor), reason });
    },

    async enable(links, request, actor) {
      const refusals = refuseNote(request.note);
      if (refusals.length > 0) return { kind: "refused", refusals };
      return store.enable(links, decide(request, actor));
    },

    async handOver(links, request, actor) {
      const refusals: DecisionRefusal[] = [
        ...(isName(request.owner) ? [] : [{ rule: "owner.name" } as const]),
        ...refuseNote(request.note),
      ];
      if (refusals.length > 0) return { kind: "refused", refusals };
      return store.handOver(links, request.owner, decide(request, actor));
    },

    async erase(link, request, actor) {
      const refusals = refuseNote(request.note);
      if (refusals.length > 0) return { kind: "refused", refusals };
      return store.erase(link, decide(request, actor));
    },

    async blockHost(written, request, actor) {
      const [host, reason] = [parseHost(written), readReason(request.reason)];
      const refusals = [
        ...refuseHost(host),
        ...(host === undefined ? [] : refuseRule(host)),
        ...refuseReason(reason),
        ...refuseNote(request.note),
      ];
      if (host === undefined || reason === undefined || refusals.length > 0)
        return { kind: "refused", refusals };
      return { host, ...(await store.blockHost({ host, reason }, decide(request, actor))) };
    },

    async unblockHost(written, request, actor) {
      const host = parseHost(written);
      const refusals = [...refuseHost(host), ...refuseNote(request.note)];
      if (host === undefined || refusals.length > 0) return { kind: "refused", refusals };
      return { host, ...(await store.unblockHost(host, decide(request, actor))) };
    },

    async undo(entry, request, actor) {
      const refusals = refuseNote(request.note);
      if (refusals.length > 0) return { kind: "refused", refusals };
      return store.undo(entry, decide(request, actor));
    },
  };
}

export function readReason(written: string): Reason | undefined {
  return REASONS.find((reason) => reason === written);
}

export function refuseReason(reason: Reason | undefined): DecisionRefusal[] {
  return reason === undefined ? [{ rule: "reason.unknown", values: REASONS.join(", ") }] : [];
}

function refuseHost(host: string | undefined): DecisionRefusal[] {
  return host === undefined ? [{ rule: "host.invalid" }] : [];
}
