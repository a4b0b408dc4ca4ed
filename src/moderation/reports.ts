import { clientNetwork, clientSite } from "../lib/client-address.ts";
import { fillRandom } from "../lib/random.ts";
import type { OtherRevision } from "../links/change.ts";
import type { Clock } from "../links/clock.ts";
import type { Code } from "../links/code.ts";
import type { Actor, Decided, LinkId } from "../links/link-store.ts";
import { type FoundLink, shownCode, targetSinceMs } from "../links/link.ts";
import type { LinkFinder } from "../links/links.ts";
import { isProblem, type Problem, type Reason, type Unknown } from "../links/problem.ts";
import { targetHost } from "../links/target.ts";
import { visitedPath } from "../links/terms/passed-path.ts";
import { DAY_MS, HOUR_MS } from "../links/time.ts";
import type { VisitStore } from "../visits/days/visit-store.ts";
import { ANSWERS, type CaseAnswer, type CaseStore, MAX_NOTE_LENGTH } from "./case.ts";
import { type GoneLink, type ReadLink, readReason, refuseReason, type RuleCheck } from "./operator.ts";
import { type RefusedDecision, refuseNote } from "./refusal.ts";

/** The use cases of reporters. They reject with `StoreUnavailable` if the store cannot answer. */
export interface Reports {
  /**
   * Reports a link, by its code as an address spells it, even if it is disabled. The result doesn't reveal whether the
   * report counts.
   */
  report(
    spelling: string,
    request: {
      readonly reason: Reason;
      readonly note?: string | undefined;
      /** The path after the code of the visit, as sent. The note starts with it. */
      readonly path?: string | null;
    },
    address: string,
  ): Promise<FoundLink | Problem | RefusedDecision>;
}

type CaseRefusal = Problem | RefusedDecision | OtherRevision;

/** The use cases of the operator, for the links of all domains. They reject with `StoreUnavailable`. */
export interface Cases {
  /**
   * Answers the case of a link, unless the link has changed since it was read. "disable" disables the link, and
   * "block-host" blocks the host of its target. "nothing" only keeps later reports from opening the case again, and is the
   * only answer if the link is gone.
   */
  answerCase(link: ReadLink | GoneLink, request: AnswerRequest, actor: Actor): Promise<Decided | CaseRefusal>;
  /** Opens an answered case again, unless the link has changed since it was read. */
  reopenCase(
    link: ReadLink | GoneLink,
    request: Pick<AnswerRequest, "note">,
    actor: Actor,
  ): Promise<Decided | CaseRefusal>;
  /** Deletes reporters and old cases, in small batches. */
  age(): Promise<void>;
}

interface AnswerRequest {
  /** One of {@link ANSWERS}. */
  readonly action: string;
  /** One of {@link REASONS}. "nothing" needs none. */
  readonly reason?: string | undefined;
  readonly note?: string | undefined;
}

export interface ReportsOptions {
  readonly store: Pick<CaseStore<Code>, "report"> & Pick<VisitStore, "salt">;
  readonly links: LinkFinder;
  readonly clock: Clock;
  /** This number of reports disables a link until the operator decides. Null: reports never do. */
  readonly reportThreshold: number | null;
  /** Called for each report that counts. */
  readonly onReported: () => void;
  readonly onDisabled: (link: LinkId<Code>) => void;
}

export interface CasesOptions {
  readonly store: Pick<CaseStore, "answerCase" | "reopenCase" | "ageCases">;
  readonly clock: Clock;
  readonly refuseRule: RuleCheck;
}

/** Reports of a day may arrive this long after it. */
export const LATE_MS = HOUR_MS;
/** How long a case is kept after its last report. */
export const KEEP_MS = 400 * DAY_MS;
/** In hexadecimal digits: 64 bits. */
const REPORTER_LENGTH = 16;
const BATCH = 200;
/** Ageing stops here and leaves the rest to the next time. */
const MAX_BATCHES = 100;

export function createReports(options: ReportsOptions): Reports {
  const { store, links, clock, reportThreshold, onReported, onDisabled } = options;
  const saltOf = createDaySalt(store, clock);

  /**
   * The number of a reporter on this day and link. It means nothing elsewhere. A whole /48 is one reporter: a home often has
   * 256 IPv6 networks, and could reach any threshold with them.
   */
  async function identify({ code, createdMs }: LinkId<Code>, address: string) {
    const day = Math.floor(clock.nowMs() / DAY_MS);
    const network = clientNetwork(address);
    const text = ["reporter", clientSite(network) ?? network, createdMs, code].join("\t");
    const hash = new Bun.CryptoHasher("sha256", await saltOf(day)).update(text).digest("hex");
    return { day, reporter: hash.slice(0, REPORTER_LENGTH) };
  }

  return {
    async report(spelling, { reason, note, path = null }, address) {
      const refusals = refuseNote(note);
      if (refusals.length > 0) return { kind: "refused", refusals };
      const link = await links.find(spelling);
      if (isProblem(link)) return link;
      const { code, createdMs, disabled } = link;
      const outcome = await store.report({
        code,
        createdMs,
        reason,
        note: noteOf(note, `/${shownCode(link)}`, visitedPath(link, path)),
        ...(await identify(link, address)),
        atMs: clock.nowMs(),
        works: disabled === undefined,
        targetSinceMs: targetSinceMs(link),
        threshold: reportThreshold ?? undefined,
      });
      if (outcome !== "repeated") onReported();
      if (outcome === "disabled") onDisabled(link);
      return link;
    },
  };
}

/** With the visited address in its first line, as far as it fits. Undefined without both. */
function noteOf(written = "", address: string, visited: string): string | undefined {
  const note = written.trim() === "" ? "" : written;
  if (visited === "") return note || undefined;
  const line = Array.from(address + visited);
  const rest = note === "" ? "" : `\n${note}`;
  const room = MAX_NOTE_LENGTH - Array.from(rest).length;
  if (room < 2) return note;
  const shown = line.length <= room ? line : [...line.slice(0, room - 1), "…"];
  return shown.join("") + rest;
}

export function createCases({ store, clock, refuseRule }: CasesOptions): Cases {
  function toCaseAnswer(
    link: ReadLink | GoneLink,
    request: AnswerRequest,
  ): CaseAnswer | Problem | RefusedDecision {
    const action = ANSWERS.find((one) => one === request.action);
    const reason = readReason(request.reason ?? "");
    const refusals = [
      ...(action === undefined ? [{ rule: "action.unknown", values: ANSWERS.join(", ") } as const] : []),
      ...(action === "nothing" ? [] : refuseReason(reason)),
      ...refuseNote(request.note),
    ];
    if (action === "nothing" && refusals.length === 0) return { action };
    if (action === undefined || action === "nothing" || reason === undefined || refusals.length > 0)
      return { kind: "refused", refusals };
    if (link.disabled === "deleted") return { kind: "disabled", reason: link.disabled };
    if (action === "disable") return { action, reason };
    const host = targetHost(link.target);
    const rule = refuseRule(host);
    return rule.length > 0 ? { kind: "refused", refusals: rule } : { action, reason, host };
  }

  return {
    async answerCase(link, request, actor) {
      const caseAnswer = toCaseAnswer(link, request);
      if (isProblem(caseAnswer)) return caseAnswer;
      const decision = { ...actor, atMs: clock.nowMs(), note: request.note || undefined };
      return unlessUnknown(await store.answerCase(link, caseAnswer, decision));
    },

    async reopenCase(link, { note }, actor) {
      const refusals = refuseNote(note);
      if (refusals.length > 0) return { kind: "refused", refusals };
      const decision = { ...actor, atMs: clock.nowMs(), note: note || undefined };
      return unlessUnknown(await store.reopenCase(link, decision));
    },

    async age() {
      for (let batch = 0; batch < MAX_BATCHES && clock.trustworthy(); batch++) {
        const nowMs = clock.nowMs();
        const reportersBefore = Math.floor((nowMs - LATE_MS) / DAY_MS);
        const bounds = { reportersBefore, casesBeforeMs: nowMs - KEEP_MS };
        if ((await store.ageCases(bounds, BATCH)) < BATCH) break;
      }
    },
  };
}

function unlessUnknown(outcome: Decided | OtherRevision): Decided | OtherRevision | Unknown {
  return !isProblem(outcome) && outcome.entry === undefined ? { kind: "unknown" } : outcome;
}

/** The salt that all processes share for a day (UTC) and then delete. Reads the store once a day. */
function createDaySalt(store: Pick<VisitStore, "salt">, clock: Pick<Clock, "trustworthy">) {
  let cached: { readonly day: number; readonly salt: Promise<Uint8Array> } | undefined;

  /** A new salt in the store would show later starts that the clock was right. */
  async function readSalt(day: number): Promise<Uint8Array> {
    return clock.trustworthy() ? store.salt(day, day) : fillRandom(new Uint8Array(32));
  }

  return async (day: number): Promise<Uint8Array> => {
    if (cached?.day !== day) cached = { day, salt: readSalt(day) };
    const { salt } = cached;
    try {
      return await salt;
    } catch (error) {
      // The next call retries.
      if (cached?.salt === salt) cached = undefined;
      throw error;
    }
  };
}
