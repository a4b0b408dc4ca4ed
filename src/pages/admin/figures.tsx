/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import { DAY_MS } from "../../links/time.ts";
import type { MessageKey } from "../../locales/messages.ts";
import { COUNTER_NAMES } from "../../moderation/counters.ts";
import { FIGURE_DAYS, type Figures, type TopHosts } from "../../moderation/figures.ts";
import { SmallChart } from "../shared/charts/small-chart.tsx";
import { HostName } from "../shared/destination.tsx";
import { numberFormat } from "../shared/in-words.ts";
import { Fact } from "../shared/link-facts.tsx";
import { withQuery } from "../shared/with-query.ts";
import { adminPage, Empty } from "./frame.tsx";
import { operatorPage, renderPage } from "./operator-page.ts";
import type { PageContext } from "./page-context.ts";

const COUNTS = ["visits", "bots", ...COUNTER_NAMES] as const;

/** How much there is of everything. */
export const showFigures = operatorPage("GET /admin/figures", (inspection) => async (call, data) => {
  const figures = await inspection.figures();
  return renderPage(call, data, (context) => figuresPage(context, figures));
});

function figuresPage(context: PageContext, figures: Figures): Page {
  const { language, say } = context;
  const { newestHosts, visitedHosts, links, disabled, blockedHosts } = figures;
  const sums = [
    ["admin.figures.links", links],
    ["admin.figures.disabled", disabled],
    ["admin.hosts.title", blockedHosts],
  ] as const;
  return adminPage(
    context,
    "figures",
    say("admin.figures"),
    <>
      <dl class="four">
        {sums.map(([name, count]) => (
          <Fact name={say(name)}>
            <strong>{numberFormat(language).format(count)}</strong>
          </Fact>
        ))}
      </dl>
      <SmallCharts context={context} days={figures.days} />
      <div class="breakdowns">
        <TopHostList context={context} title="admin.figures.newest" top={newestHosts} />
        <TopHostList context={context} title="admin.figures.visited" top={visitedHosts} />
      </div>
    </>,
    { summary: say("admin.figures.days", { count: FIGURE_DAYS }) },
  );
}

/** A chart for each count that was above 0. */
function SmallCharts({ context, days }: Pick<Figures, "days"> & { context: PageContext }) {
  const { language, say, nowMs } = context;
  const today = Math.floor(nowMs / DAY_MS);
  const columns = Array.from({ length: FIGURE_DAYS }, (_, nth) => today - FIGURE_DAYS + 1 + nth);
  const countsOf = new Map(days.map(({ day, counts }) => [day, counts]));
  const courses = COUNTS.map((name) => ({
    name: say(`admin.count.${name}`),
    values: columns.map((day) => countsOf.get(day)?.[name] ?? 0),
  })).filter(({ values }) => values.some((value) => value > 0));
  if (courses.length === 0) return <Empty context={context} texts={["admin.figures.empty"]} />;
  const date = new Intl.DateTimeFormat(language, { month: "short", day: "numeric", timeZone: "UTC" });
  const dates = columns.map((day) => date.format(day * DAY_MS));
  return (
    <div class="breakdowns charts">
      {courses.map(({ name, values }) => (
        <SmallChart language={language} name={name} values={values} dates={dates} />
      ))}
    </div>
  );
}

function TopHostList({ context, title, top }: { context: PageContext; title: MessageKey; top: TopHosts }) {
  const { language, say } = context;
  const { hosts, links } = top;
  const { format } = numberFormat(language);
  const most = hosts[0]?.count ?? 1;
  if (hosts.length === 0) return <></>;
  return (
    <section>
      <h2>{say(title)}</h2>
      <p class="hint">{say("admin.figures.of", { count: links })}</p>
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
