/** @jsxImportSource ../shared/html */
import { isoDay } from "../../links/time.ts";
import { message, type MessageKey } from "../../locales/messages.ts";
import type { CounterName } from "../../moderation/counters.ts";
import type { Figures, TopHosts } from "../../moderation/figures.ts";
import type { Page } from "../shared/layout.tsx";
import { Fact } from "../shared/link-facts.tsx";
import { adminPage, Given, type PageContext, withQuery } from "./frame.tsx";

const COUNTS = {
  visits: "admin.count.visits",
  bots: "admin.count.bots",
  created: "admin.count.created",
  refused: "admin.count.refused",
  blocked: "admin.count.blocked",
  "limited.create": "admin.count.limited.create",
  "limited.unknown": "admin.count.limited.unknown",
  "limited.view": "admin.count.limited.view",
  "limited.password": "admin.count.limited.password",
  "limited.report": "admin.count.limited.report",
  reports: "admin.count.reports",
  unknown: "admin.count.unknown",
} as const satisfies Record<CounterName | "visits" | "bots", MessageKey>;
const NAMES = Object.keys(COUNTS) as (keyof typeof COUNTS)[];

/** The operator's start page: how much there is of everything. */
export function figuresPage(context: PageContext, figures: Figures): Page {
  const { language } = context;
  const say = (key: MessageKey) => message(language, key);
  const format = (count: number) => count.toLocaleString(language);
  const { newestHosts, visitedHosts, days } = figures;
  return adminPage(
    context,
    "figures",
    say("admin.figures"),
    <>
      <dl class="facts">
        <Fact name={say("admin.figures.links")}>{format(figures.links)}</Fact>
        <Fact name={say("admin.figures.disabled")}>{format(figures.disabled)}</Fact>
        <Fact name={say("admin.hosts")}>{format(figures.blockedHosts)}</Fact>
      </dl>
      <Hosts language={language} title="admin.figures.newest" count="admin.links" top={newestHosts} />
      <Hosts
        language={language}
        title="admin.figures.visited"
        count="admin.count.visits"
        top={visitedHosts}
      />
      <h2>{say("admin.figures.days")}</h2>
      {days.toReversed().map(({ day, counts }) => (
        <section aria-label={isoDay(day)}>
          <h3>{isoDay(day)}</h3>
          <dl class="facts">
            {NAMES.filter((name) => (counts[name] ?? 0) > 0).map((name) => (
              <Fact name={say(COUNTS[name])}>{format(counts[name] ?? 0)}</Fact>
            ))}
          </dl>
        </section>
      ))}
    </>,
  );
}

interface HostsProps {
  readonly language: string;
  readonly title: MessageKey;
  readonly count: MessageKey;
  readonly top: TopHosts;
}

function Hosts({ language, title, count, top }: HostsProps) {
  const { hosts, links } = top;
  return (
    <>
      <h2>{message(language, title)}</h2>
      {hosts.length === 0 ? (
        <p>{message(language, "admin.figures.none")}</p>
      ) : (
        <>
          <p class="hint">{message(language, "admin.figures.of", { count: links })}</p>
          <table>
            <thead>
              <tr>
                <th scope="col">{message(language, "admin.figures.host")}</th>
                <th scope="col" class="number">
                  {message(language, count)}
                </th>
              </tr>
            </thead>
            <tbody>
              {hosts.map((one) => (
                <tr>
                  <th scope="row">
                    <a href={withQuery("/admin/links", { host: one.host })}>
                      <Given text={one.host} />
                    </a>
                  </th>
                  <td class="number">{one.count.toLocaleString(language)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </>
  );
}
