/** @jsxImportSource ../shared/html */
import { DAY_MS, HOUR_MS } from "../../links/time.ts";
import { languageNames, type MessageKey } from "../../locales/messages.ts";
import type { RateLimitsOptions, Window } from "../../moderation/rate-limits.ts";
import { amount } from "../shared/formats.ts";
import type { Child } from "../shared/html/jsx-runtime.ts";
import { exampleOf, needs, operationsOf } from "./openapi.ts";
import { CodeBox, type Context, withCode, Part, pretty } from "./parts.tsx";
import { clientSamples } from "./samples.ts";

/** The limits of each client. Without windows, there is none. */
export type ClientLimits = Pick<
  RateLimitsOptions,
  "limitCreate" | "limitUnknown" | "limitView" | "limitReport" | "limitPasswords"
>;

interface GuideProps {
  readonly context: Context;
  readonly documentPath: string;
  readonly limits: ClientLimits;
}

/** The start of the example of all errors. */
const TAKEN = "HTTP/1.1 409 Conflict\nCurt-Reason: code.taken";

/** The parts before the operations, by id. */
export const GUIDE = {
  clients: "docs.clients",
  start: "docs.start",
  basics: "docs.basics",
  errors: "docs.errors",
  limits: "docs.limits",
} as const satisfies Record<string, MessageKey>;

export function Guide({ context, documentPath, limits }: GuideProps) {
  const { language, api, base, say } = context;
  const needsToken = operationsOf(api).some((operation) => needs(operation, "token"));
  const samples = clientSamples(base, needsToken);
  const titleOf = (id: keyof typeof GUIDE) => ({ id, title: say(GUIDE[id]), kind: "guide" }) as const;
  const box = (caption: string, code: string) => (
    <CodeBox language={language} name={caption} caption={caption}>
      {code}
    </CodeBox>
  );
  const { ShortenResponse = {}, Problem = {}, ProblemReason = {} } = api.components.schemas;
  return (
    <>
      <Part
        {...titleOf("clients")}
        side={
          <>
            {box("TypeScript", samples.TypeScript)}
            {box("Shell", samples.shell)}
            {box("MCP", samples.mcp)}
          </>
        }
      >
        <p>{withCode(say("docs.clients.source"))}</p>
        <dl class="fields">
          <Fact name="TypeScript, JavaScript">{withCode(say("docs.clients.script"))}</Fact>
          <Fact name="Shell">{withCode(say("docs.clients.command"))}</Fact>
          <Fact name="MCP">{withCode(say("docs.clients.mcp"))}</Fact>
        </dl>
      </Part>
      <Part
        {...titleOf("start")}
        side={
          <>
            {box("curl", samples.curl)}
            {box(say("docs.answer.example"), pretty(exampleOf(api, ShortenResponse)))}
          </>
        }
      >
        <p>{say(needsToken ? "docs.start.token" : "docs.start.open")}</p>
        <p>{withCode(say("docs.envelope"))}</p>
      </Part>
      <Part {...titleOf("basics")}>
        <dl class="fields">
          <Fact name={say("docs.base")}>
            <code>{base}</code>
          </Fact>
          <Fact name={say("docs.key")}>{withCode(say(needsToken ? "docs.key.token" : "docs.key.none"))}</Fact>
          <Fact name={say("docs.languages")}>
            {withCode(say("docs.languages.rule", { languages: languageNames(language) }))}
          </Fact>
          <Fact name={say("docs.cors")}>{withCode(say("docs.cors.rule"))}</Fact>
          <Fact name={say("docs.machine")}>
            {say("docs.machine.rule")} <a href={documentPath}>{documentPath}</a>
          </Fact>
        </dl>
      </Part>
      <Part
        {...titleOf("errors")}
        side={box(say("docs.error"), `${TAKEN}\n\n${pretty(exampleOf(api, Problem))}`)}
      >
        <p>{withCode(say("docs.error.rule"))}</p>
        <p>{withCode(say("api.reasons"))}</p>
        <dl class="fields">
          {byAdvice((ProblemReason.enum ?? []).map(String)).map(({ statuses, advice, reasons }) => (
            <Fact name={statuses}>
              <p>{withCode(say(advice))}</p>
              <p class="soft reasons">
                {reasons.map((reason) => (
                  <>
                    <code>{reason}</code>{" "}
                  </>
                ))}
              </p>
            </Fact>
          ))}
        </dl>
      </Part>
      <Part {...titleOf("limits")}>
        <p>{withCode(say("docs.limits.rule"))}</p>
        <table>
          <tbody>
            {LIMITED.map(([name, key]) => (
              <tr>
                <th scope="row">{withCode(say(key))}</th>
                <td>{describeLimits(context, limits[name])}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Part>
    </>
  );
}

const LIMITED = [
  ["limitCreate", "docs.limit.create"],
  ["limitUnknown", "docs.limit.unknown"],
  ["limitView", "docs.limit.view"],
  ["limitReport", "docs.limit.report"],
  ["limitPasswords", "docs.limit.password"],
] as const satisfies [keyof ClientLimits, MessageKey][];

function describeLimits({ language, say }: Context, windows: readonly Window[]): string {
  if (windows.length === 0) return say("docs.limits.off");
  const texts = windows.map(({ count, ms }) =>
    say("docs.limits.window", { count: count.toLocaleString(language), time: timeIn(language, ms) }),
  );
  return new Intl.ListFormat(language, { type: "conjunction" }).format(texts);
}

/** In the largest unit without a fraction. */
function timeIn(language: string, ms: number): string {
  const units = [
    ["day", DAY_MS],
    ["hour", HOUR_MS],
    ["minute", 60_000],
  ] as const;
  const [unit, unitMs] = units.find(([, each]) => ms % each === 0) ?? (["second", 1000] as const);
  return amount(language, ms / unitMs, unit);
}

function Fact({ name, children }: { name: string; children?: Child }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

interface Advice {
  /** The statuses with these reasons. */
  readonly statuses: string;
  readonly advice: MessageKey;
}

interface Advised extends Advice {
  readonly reasons: readonly string[];
}

const CHANGE_IT: Advice = { statuses: "400, 403, 405, 412, 413, 415", advice: "docs.errors.request" };
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

/** All reasons, grouped by advice. Mistakes in the request come first, as the rest that no pattern matches. */
function byAdvice(reasons: readonly string[]): readonly Advised[] {
  const adviceOf = (reason: string) => OTHERS.find(([has]) => has.test(reason))?.[1] ?? CHANGE_IT;
  return [CHANGE_IT, ...OTHERS.map(([, advice]) => advice)].map((advice) => {
    return { ...advice, reasons: reasons.filter((reason) => adviceOf(reason) === advice) };
  });
}
