/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import { DAY_MS } from "../../links/time.ts";
import { message, type MessageKey } from "../../locales/messages.ts";
import type { CounterName } from "../../moderation/counters.ts";
import { FIGURE_DAYS, type Figures, type TopHosts } from "../../moderation/figures.ts";
import { SmallChart } from "../shared/charts/small-chart.tsx";
import { HostName } from "../shared/destination.tsx";
import { numberFormat } from "../shared/formats.ts";
import { Fact } from "../shared/link-facts.tsx";
import { operatorPage, renderPage } from "./endpoint.ts";
import { adminPage, Empty, type PageContext, withQuery } from "./frame.tsx";

const COUNTS = {
  visits: "admin.count.visits",
  bots: "admin.count.bots",
  created: "admin.count.created",
  reports: "admin.count.reports",
  refused: "admin.count.refused",
  blocked: "admin.count.blocked",
  unknown: "admin.count.unknown",
  "limited.create": "admin.count.limited.create",
  "limited.unknown": "admin.count.limited.unknown",
  "limited.view": "admin.count.limited.view",
  "limited.password": "admin.count.limited.password",
  "limited.report": "admin.count.limited.report",
} as const satisfies Record<CounterName | "visits" | "bots", MessageKey>;

/** How much there is of everything. */
export const showFigures = operatorPage("GET /admin/figures", (inspection) => async (call, data) => {
  const figures = await inspection.figures();
  const today = Math.floor(inspection.nowMs() / DAY_MS);
  return renderPage(call, data, (context) => figuresPage(context, figures, today));
});

function figuresPage(context: PageContext, figures: Figures, today: number): Page {
  const { language } = context;
  const { newestHosts, visitedHosts, links, disabled, blockedHosts } = figures;
  const sums = [
    ["admin.figures.links", links],
    ["admin.figures.disabled", disabled],
    ["admin.hosts.title", blockedHosts],
  ] as const;
  return adminPage(
    context,
    "figures",
    message(language, "admin.figures"),
    <>
      <dl class="sums">
        {sums.map(([name, count]) => (
          <Fact name={message(language, name)}>{numberFormat(language).format(count)}</Fact>
        ))}
      </dl>
      <h2>{message(language, "admin.figures.days", { count: FIGURE_DAYS })}</h2>
      <SmallCharts language={language} days={figures.days} today={today} />
      <div class="breakdowns">
        <TopHostList language={language} title="admin.figures.newest" top={newestHosts} />
        <TopHostList language={language} title="admin.figures.visited" top={visitedHosts} />
      </div>
    </>,
  );
}

type SmallChartsProps = Pick<Figures, "days"> & { readonly language: string; readonly today: number };

/** A chart for each count that was above 0. */
function SmallCharts({ language, days, today }: SmallChartsProps) {
  const columns = Array.from({ length: FIGURE_DAYS }, (_, nth) => today - FIGURE_DAYS + 1 + nth);
  const countsOf = new Map(days.map(({ day, counts }) => [day, counts]));
  const courses = Object.entries(COUNTS)
    .map(([name, key]) => ({
      name: message(language, key),
      values: columns.map((day) => countsOf.get(day)?.[name as keyof typeof COUNTS] ?? 0),
    }))
    .filter(({ values }) => values.some((value) => value > 0));
  if (courses.length === 0) return <Empty language={language} texts={["admin.figures.empty"]} />;
  const date = new Intl.DateTimeFormat(language, { month: "short", day: "numeric", timeZone: "UTC" });
  const dates = columns.map((day) => date.format(day * DAY_MS));
  return (
    <div class="breakdowns">
      {courses.map(({ name, values }) => (
        <SmallChart language={language} name={name} values={values} dates={dates} />
      ))}
    </div>
  );
}

function TopHostList({ language, title, top }: { language: string; title: MessageKey; top: TopHosts }) {
  const { hosts, links } = top;
  const { format } = numberFormat(language);
  const most = hosts[0]?.count ?? 1;
  if (hosts.length === 0) return <></>;
  return (
    <section>
      <h2>{message(language, title)}</h2>
      <p class="hint">{message(language, "admin.figures.of", { count: links })}</p>
      <table>
        <tbody>
          {hosts.map(({ host, count }) => (
            <tr>
              <th scope="row">
                <a href={withQuery("/admin/links", { host })}>
                  <HostName host={host} />
                </a>
                <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
                  <rect width={Math.round((count / most) * 100)} height="1" />
                </svg>
              </th>
              <td class="number">{format(count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
