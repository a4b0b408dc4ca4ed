/** @jsxImportSource ../shared/html */
import { DAY_MS, HOUR_MS } from "../../links/time.ts";
import { languageNames, type MessageKey } from "../../locales/messages.ts";
import type { RateLimitsOptions, Window } from "../../moderation/rate-limits.ts";
import type { Child } from "../shared/html/jsx-runtime.ts";
import { amount } from "../shared/time-words.ts";
import { clientSamples } from "./client-samples.ts";
import { CodeBox, marked, pretty } from "./code.tsx";
import { byAdvice } from "./error-advice.ts";
import { exampleOf, needs, operationsOf } from "./openapi.ts";
import { type Context, Part } from "./section.tsx";

/** How much each client of this instance may do. Without windows, as much as it wants. */
export type ClientLimits = Pick<
  RateLimitsOptions,
  "limitCreate" | "limitUnknown" | "limitView" | "limitReport" | "limitPasswords"
>;

interface GuideProps {
  readonly context: Context;
  readonly documentPath: string;
  readonly limits: ClientLimits;
}

/** How the error begins that is the example of all errors. */
const TAKEN = "HTTP/1.1 409 Conflict\nCurt-Reason: code.taken";

/** What is before the operations, by the ids of its parts. */
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
        <p>{marked(say("docs.clients.source"))}</p>
        <dl class="fields">
          <Fact name="TypeScript, JavaScript">{marked(say("docs.clients.script"))}</Fact>
          <Fact name="Shell">{marked(say("docs.clients.command"))}</Fact>
          <Fact name="MCP">{marked(say("docs.clients.mcp"))}</Fact>
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
        <p>{marked(say("docs.envelope"))}</p>
      </Part>
      <Part {...titleOf("basics")}>
        <dl class="fields">
          <Fact name={say("docs.base")}>
            <code>{base}</code>
          </Fact>
          <Fact name={say("docs.key")}>{marked(say(needsToken ? "docs.key.token" : "docs.key.none"))}</Fact>
          <Fact name={say("docs.languages")}>
            {marked(say("docs.languages.rule", { languages: languageNames(language) }))}
          </Fact>
          <Fact name={say("docs.cors")}>{marked(say("docs.cors.rule"))}</Fact>
          <Fact name={say("docs.machine")}>
            {say("docs.machine.rule")} <a href={documentPath}>{documentPath}</a>
          </Fact>
        </dl>
      </Part>
      <Part
        {...titleOf("errors")}
        side={box(say("docs.error"), `${TAKEN}\n\n${pretty(exampleOf(api, Problem))}`)}
      >
        <p>{marked(say("docs.error.rule"))}</p>
        <p>{marked(say("api.reasons"))}</p>
        <dl class="fields">
          {byAdvice((ProblemReason.enum ?? []).map(String)).map(({ statuses, advice, reasons }) => (
            <Fact name={statuses}>
              <p>{marked(say(advice))}</p>
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
        <p>{marked(say("docs.limits.rule"))}</p>
        <table>
          <tbody>
            {LIMITED.map(([name, key]) => (
              <tr>
                <th scope="row">{marked(say(key))}</th>
                <td>{allowed(context, limits[name])}</td>
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

function allowed({ language, say }: Context, windows: readonly Window[]): string {
  if (windows.length === 0) return say("docs.limits.off");
  const told = windows.map(({ count, ms }) =>
    say("docs.limits.window", { count: count.toLocaleString(language), time: timeIn(language, ms) }),
  );
  return new Intl.ListFormat(language, { type: "conjunction" }).format(told);
}

/** In the largest unit that needs no fraction. */
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
