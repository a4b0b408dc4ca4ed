import type { MessageKey } from "../../locales/messages.ts";

interface Advice {
  /** Of the answers that have these reasons. */
  readonly statuses: string;
  /** What to do. */
  readonly advice: MessageKey;
}

interface Advised extends Advice {
  readonly reasons: readonly string[];
}

const CHANGE_IT: Advice = { statuses: "400, 403, 405, 413, 415", advice: "docs.errors.request" };
const OTHERS: readonly (readonly [RegExp, Advice])[] = [
  [/^code\.taken$/, { statuses: "409", advice: "docs.errors.taken" }],
  [
    /^(?:token|key|edits)\.|^password\.(?:missing|wrong)$/,
    { statuses: "401, 403", advice: "docs.errors.who" },
  ],
  [/^link\.(?!prefetch)|^route\./, { statuses: "404, 410", advice: "docs.errors.gone" }],
  [/^idempotency\./, { statuses: "400, 422", advice: "docs.errors.again" }],
  [/^limit\./, { statuses: "429", advice: "docs.errors.wait" }],
  [
    /^(?:internal|overloaded|store\..*|link\.prefetch)$/,
    { statuses: "500, 503", advice: "docs.errors.ours" },
  ],
  [/^(?:operator|action|host|reason)\./, { statuses: "400, 401, 404, 409", advice: "docs.errors.operator" }],
];

/** All reasons by what to do about them. Those of rules about what is sent come first, and are the rest. */
export function byAdvice(reasons: readonly string[]): readonly Advised[] {
  const adviceOf = (reason: string) => OTHERS.find(([has]) => has.test(reason))?.[1] ?? CHANGE_IT;
  return [CHANGE_IT, ...OTHERS.map(([, advice]) => advice)].map((advice) => {
    return { ...advice, reasons: reasons.filter((reason) => adviceOf(reason) === advice) };
  });
}
