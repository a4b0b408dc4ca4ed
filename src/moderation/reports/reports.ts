import type { Clock } from "../../links/clock.ts";
import { targetSinceMs, type FoundLink, type Reason } from "../../links/link.ts";
import type { Links } from "../../links/links.ts";
import { isProblem, type Problem } from "../../links/problem.ts";
import type { LinkId, Who } from "../../links/store.ts";
import { targetHost } from "../../links/target.ts";
import { DAY_MS, HOUR_MS } from "../../links/time.ts";
import type { VisitStore } from "../../visits/store.ts";
import { clientNetwork } from "../client-address.ts";
import { readReason, type RefusedDecision, refuseReason, type RuleCheck } from "../operator.ts";
import { ANSWERS, type Case, type CaseAnswer, type CaseStore, type Note, refuseNote } from "./case.ts";

/** The use cases around reports. All of them reject with `StoreUnavailable` if the store cannot answer. */
export interface Reports {
  /**
   * Reports a link, by its code as an address spells it. Also links that do not work at the moment can be reported. The
   * result does not tell whether the report counts.
   */
  report(spelling: string, told: Told, address: string): Promise<FoundLink | Problem | RefusedDecision>;
  /**
   * Answers the case of a link by what the operator does about it: "disable" disables the link, "block-host" blocks the
   * host that it leads to, and "nothing" only keeps later reports from opening the case again.
   */
  answerCase(link: LinkId, request: AnswerRequest, who: Who): Promise<Answered | Problem | RefusedDecision>;
  /** Forgets reporters and old cases, in small batches. */
  age(): Promise<void>;
}

interface Told {
  readonly reason: Reason;
  readonly note?: string | undefined;
}

interface AnswerRequest {
  /** One of {@link ANSWERS}. */
  readonly action: string;
  /** One of {@link REASONS}. "nothing" needs none. */
  readonly reason?: string | undefined;
  readonly note?: string | undefined;
}

interface Answered extends Case {
  readonly notes: readonly Note[];
}

export interface ReportsOptions extends Omit<ReporterOptions, "store"> {
  readonly store: CaseStore & ReporterOptions["store"];
  readonly links: Pick<Links, "find">;
  readonly clock: Clock;
  /** So many reports of a link disable it until the operator has looked at it. Null: none do. */
  readonly reportThreshold: number | null;
  readonly refuseRule: RuleCheck;
  /** A report counts. */
  readonly onReported: () => void;
  readonly onDisabled: (link: LinkId) => void;
}

/** Reports of a day may still be under way for so long after it. */
const LATE_MS = HOUR_MS;
const KEEP_MS = 400 * DAY_MS;
const BATCH = 200;
/** Ageing stops here and leaves the rest to the next time. */
const MAX_BATCHES = 100;

export function createReports(options: ReportsOptions): Reports {
  const { store, links, clock, reportThreshold, refuseRule, onReported, onDisabled } = options;
  const reporters = createReporters(options);

  async function toCaseAnswer(
    link: LinkId,
    request: AnswerRequest,
  ): Promise<CaseAnswer | Problem | RefusedDecision> {
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
    if (action === "disable") return { action, reason };
    const found = await links.find(link.code);
    if (isProblem(found)) return found;
    if (found.createdMs !== link.createdMs) return { kind: "unknown" };
    const host = targetHost(found.target);
    const rule = refuseRule(host);
    return rule.length > 0 ? { kind: "refused", refusals: rule } : { action, reason, host };
  }

  return {
    async report(spelling, { reason, note }, address) {
      const refusals = refuseNote(note);
      if (refusals.length > 0) return { kind: "refused", refusals };
      const link = await links.find(spelling);
      if (isProblem(link)) return link;
      const { code, createdMs, disabled } = link;
      const outcome = await store.report({
        code,
        createdMs,
        reason,
        note: note?.trim() === "" ? undefined : note,
        ...(await reporters.identify(link, address)),
        atMs: clock.nowMs(),
        works: disabled === undefined,
        targetSinceMs: targetSinceMs(link),
        threshold: reportThreshold ?? undefined,
      });
      if (outcome !== "repeated") onReported();
      if (outcome === "disabled") onDisabled(link);
      return link;
    },

    async answerCase(link, request, who) {
      const caseAnswer = await toCaseAnswer(link, request);
      if (isProblem(caseAnswer)) return caseAnswer;
      const decision = { who, atMs: clock.nowMs(), note: request.note || undefined };
      const isAnswered = await store.answerCase(link, caseAnswer, decision);
      const found = isAnswered ? await store.caseOf(link) : undefined;
      return found ?? { kind: "unknown" };
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

/** In hexadecimal digits: 64 bits. */
const REPORTER_LENGTH = 16;

interface ReporterOptions {
  readonly store: Pick<VisitStore, "salt">;
  readonly clock: Pick<Clock, "nowMs" | "trustworthy">;
  /** Fills an array with bytes from a CSPRNG. */
  readonly fillRandom: (bytes: Uint8Array) => void;
}

/**
 * Clients as numbers: keyed hashes of address and link under the salt of the day. So a client is known again on the same
 * day and the same link, and nowhere else.
 */
function createReporters(options: ReporterOptions) {
  const saltNow = createDaySalt(options);

  return {
    async identify({ code, createdMs }: LinkId, address: string) {
      const { day, salt } = await saltNow();
      const text = ["reporter", clientNetwork(address), createdMs, code].join("\t");
      const hash = new Bun.CryptoHasher("sha256", salt).update(text).digest("hex");
      return { day, reporter: hash.slice(0, REPORTER_LENGTH) };
    },
  };
}

/** The salt that all processes share for the present day (UTC) and then forget. Asks the store once a day. */
function createDaySalt({ store, clock, fillRandom }: ReporterOptions) {
  let known: { readonly day: number; readonly salt: Promise<Uint8Array> } | undefined;

  /** Making a salt tells later starts that the clock was right. */
  async function makeSalt(day: number): Promise<Uint8Array> {
    if (clock.trustworthy()) return store.salt(day, day);
    const own = new Uint8Array(32);
    fillRandom(own);
    return own;
  }

  async function saltOf(day: number): Promise<Uint8Array> {
    if (known?.day !== day) known = { day, salt: makeSalt(day) };
    const { salt } = known;
    try {
      return await salt;
    } catch (error) {
      // Whoever asks next tries again.
      if (known?.salt === salt) known = undefined;
      throw error;
    }
  }

  return async () => {
    const day = Math.floor(clock.nowMs() / DAY_MS);
    return { day, salt: await saltOf(day) };
  };
}
