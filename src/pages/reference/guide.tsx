/** @jsxImportSource ../shared/html */
import { exampleOf, needs, operationsOf } from "../../api/openapi/description.ts";
import { DAY_MS, HOUR_MS } from "../../links/time.ts";
import { languageNames, type MessageKey } from "../../locales/messages.ts";
import type { Window } from "../../moderation/cell-rate.ts";
import type { RateLimitsOptions } from "../../moderation/rate-limits.ts";
import { amount } from "../shared/in-words.ts";
import { Fact } from "../shared/link-facts.tsx";
import { Code, type Context, Endpoint, withCode, Part, pretty, Tabs } from "./reference-parts.tsx";
import { clientSamples } from "./samples.ts";

/** The limits of each client. Without windows, there is none. */
export type ClientLimits = Pick<
  RateLimitsOptions,
  "limitCreate" | "limitUnknown" | "limitView" | "limitReport" | "limitPasswords"
>;

/** The start of the example of all errors. */
const TAKEN = "HTTP/1.1 409 Conflict\nCurt-Reason: code.taken";

/** The parts before the operations, by id. */
export const GUIDE = { start: "docs.start", calls: "docs.calls", basics: "docs.basics" } as const;
/** The parts after the operations, by id. */
export const FAILURES = { errors: "docs.errors", limits: "docs.limits" } as const;

/** When to use which operation that creates links. */
const WHEN: Readonly<Record<string, MessageKey>> = {
  shorten: "docs.calls.shorten",
  createLink: "docs.calls.link",
  createLinks: "docs.calls.links",
};

export function Guide({ context, documentPath }: { context: Context; documentPath: string }) {
  const { language, api, base, say } = context;
  const operations = operationsOf(api);
  const needsToken = operations.some((operation) => needs(operation, "token"));
  const { ShortenResponse = {} } = api.components.schemas;
  return (
    <>
      <Part
        id="start"
        title={say(GUIDE.start)}
        kind="guide"
        side={
          <>
            <Tabs
              language={language}
              id="start"
              samples={clientSamples(base, needsToken)}
              nameOf={(name) => name}
            />
            <Box context={context} caption={say("docs.answer.example")}>
              {pretty(exampleOf(api, ShortenResponse))}
            </Box>
          </>
        }
      >
        <p>{say(needsToken ? "docs.start.token" : "docs.start.open")}</p>
        <p>{withCode(say("docs.envelope"))}</p>
      </Part>
      <Part id="calls" title={say(GUIDE.calls)} kind="guide">
        <table class="calls">
          <tbody>
            {operations.map(
              ({ operationId, summary, method, path }) =>
                WHEN[operationId] !== undefined && (
                  <tr>
                    <th scope="row">
                      <a href={`#${operationId}`}>{summary}</a>
                      <div class="soft">{withCode(say(WHEN[operationId]))}</div>
                    </th>
                    <td>
                      <Endpoint method={method} path={path} />
                    </td>
                  </tr>
                ),
            )}
          </tbody>
        </table>
      </Part>
      <Part id="basics" title={say(GUIDE.basics)} kind="guide">
        <dl class="named">
          <Fact name={say("docs.base")}>
            <code>{base}</code>
          </Fact>
          <Fact name={say("docs.key")}>{withCode(say(needsToken ? "docs.key.token" : "docs.key.none"))}</Fact>
          <Fact name={say("docs.languages")}>
            {withCode(say("docs.languages.rule", { languages: languageNames(language) }))}
          </Fact>
          <Fact name={say("docs.cors")}>{withCode(say("docs.cors.rule"))}</Fact>
          <Fact name="TypeScript, JavaScript">{withCode(say("docs.clients.script"))}</Fact>
          <Fact name="Shell">{withCode(say("docs.clients.command"))}</Fact>
          <Fact name="MCP">{withCode(say("docs.clients.mcp"))}</Fact>
          <Fact name={say("docs.machine")}>
            {withCode(say("docs.clients.source"))} {say("docs.machine.rule")}{" "}
            <a href={documentPath}>{documentPath}</a>
          </Fact>
        </dl>
      </Part>
    </>
  );
}

/** The parts about refusals, after the operations. */
export function Failures({ context, limits }: { context: Context; limits: ClientLimits }) {
  const { api, say } = context;
  const { ShortenProblem = {}, ProblemReason = {} } = api.components.schemas;
  return (
    <>
      <Part id="errors" title={say(FAILURES.errors)} kind="guide">
        <p>{withCode(say("docs.error.rule"))}</p>
        <p>{withCode(say("api.reasons"))}</p>
        <Box context={context} caption={say("docs.error")}>
          {`${TAKEN}\n\n${pretty(exampleOf(api, ShortenProblem))}`}
        </Box>
        <dl class="named">
          {byAdvice((ProblemReason.enum ?? []).map(String)).map(({ statuses, advice, reasons }) => (
            <Fact name={statuses}>
              <details>
                <summary>{withCode(say(advice))}</summary>
                <p class="soft reasons">
                  {reasons.map((reason) => (
                    <>
                      <code>{reason}</code>{" "}
                    </>
                  ))}
                </p>
              </details>
            </Fact>
          ))}
        </dl>
      </Part>
      <Part id="limits" title={say(FAILURES.limits)} kind="guide">
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
        <dl class="named">
          <Fact name="RateLimit">{say("api.rate-limit")}</Fact>
          <Fact name="RateLimit-Policy">{say("api.rate-limit-policy")}</Fact>
        </dl>
      </Part>
    </>
  );
}

function Box({ context, caption, children }: { context: Context; caption: string; children: string }) {
  return (
    <div class="code">
      <p class="caption">{caption}</p>
      <Code language={context.language} name={caption}>
        {children}
      </Code>
    </div>
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

interface Advice {
  /** The statuses with these reasons. */
  readonly statuses: string;
  readonly advice: MessageKey;
}

interface Advised extends Advice {
  readonly reasons: readonly string[];
}

const CHANGE_IT: Advice = { statuses: "400, 403, 405, 412, 413, 415, 428", advice: "docs.errors.request" };
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
  [
    /^(?:operator|action|decision|host|reason)\./,
    { statuses: "400, 401, 404, 409", advice: "docs.errors.operator" },
  ],
];

/** All reasons, grouped by advice. Mistakes in the request come first, as the rest that no pattern matches. */
function byAdvice(reasons: readonly string[]): readonly Advised[] {
  const adviceOf = (reason: string) => OTHERS.find(([has]) => has.test(reason))?.[1] ?? CHANGE_IT;
  return [CHANGE_IT, ...OTHERS.map(([, advice]) => advice)].map((advice) => {
    return { ...advice, reasons: reasons.filter((reason) => adviceOf(reason) === advice) };
  });
}
