/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import { DAY_MS } from "../../links/time.ts";
import { message, type MessageKey } from "../../locales/messages.ts";
import type { CounterName } from "../../moderation/counters.ts";
import { FIGURE_DAYS, type Figures, type TopHosts } from "../../moderation/figures.ts";
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
const NAMES = Object.keys(COUNTS) as (keyof typeof COUNTS)[];

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
    ["admin.hosts", blockedHosts],
  ] as const;
  return adminPage(
    context,
    "figures",
    message(language, "admin.figures"),
    <>
      <dl class="facts sums">
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
  const courses = NAMES.map((name) => ({
    name: message(language, COUNTS[name]),
    values: columns.map((day) => countsOf.get(day)?.[name] ?? 0),
  })).filter(({ values }) => values.some((value) => value > 0));
  if (courses.length === 0) return <Empty language={language} texts={["admin.figures.empty"]} />;
  const date = new Intl.DateTimeFormat(language, { month: "short", day: "numeric", timeZone: "UTC" });
  const dates = columns.map((day) => date.format(day * DAY_MS));
  return (
    <div class="breakdowns">
      {courses.map(({ name, values }) => (
        <Course language={language} name={name} values={values} dates={dates} />
      ))}
    </div>
  );
}

/** In the units of the drawing: its height, the width per day, and the lowest bar. */
const HEIGHT = 40;
const STEP = 10;
const LOWEST = 1;

interface CourseProps {
  readonly language: string;
  readonly name: string;
  readonly values: readonly number[];
  readonly dates: readonly string[];
}

/** A count over the days: its sum, today's and the highest value, and a bar per day. */
function Course({ language, name, values, dates }: CourseProps) {
  const { format } = numberFormat(language);
  const top = Math.max(...values);
  const sum = values.reduce((all, value) => all + value, 0);
  const highest = { count: format(top), date: dates[values.indexOf(top)] ?? "" };
  return (
    <figure>
      <figcaption>
        {name} <strong>{format(sum)}</strong>
      </figcaption>
      <svg viewBox={`0 0 ${values.length * STEP} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {values.map((value, nth) => {
          const height = Math.max(LOWEST, Math.round((value / top) * HEIGHT));
          return (
            value > 0 && (
              <rect x={nth * STEP} y={HEIGHT - height} width={STEP - 2} height={height}>
                <title>{`${dates[nth]}: ${format(value)}`}</title>
              </rect>
            )
          );
        })}
      </svg>
      <p class="hint">
        {message(language, "admin.figures.today", { count: format(values.at(-1) ?? 0) })} ·{" "}
        {message(language, "admin.figures.highest", highest)}
      </p>
    </figure>
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
