/** @jsxImportSource ../shared/html */
import { searchLinks } from "../../api/admin/search-slices.ts";
import type { Page } from "../../http/page.ts";
import { parametersOf } from "../../http/url.ts";
import { isProblem } from "../../links/problem.ts";
import { authorityOf } from "../../links/target.ts";
import { parseHost } from "../../moderation/blocklist/domain-name.ts";
import type { HostLinks, ListItems } from "../../moderation/inspection.ts";
import type { HostRule } from "../../moderation/moderation-store.ts";
import { readReason } from "../../moderation/operator.ts";
import { Chip } from "../shared/chip.tsx";
import { HostName } from "../shared/destination.tsx";
import { Instant } from "../shared/instant.tsx";
import { withQuery } from "../shared/with-query.ts";
import { countOf, isMany, MANY_LINKS } from "./answers.tsx";
import { Decide, Field, Form } from "./decision-form.tsx";
import { Empty, adminPage, More } from "./frame.tsx";
import { listPageOf, operatorForm, operatorPage, type PageData, renderPage } from "./operator-page.ts";
import type { PageContext } from "./page-context.ts";

interface HostsData extends PageData {
  /** A host whose links were counted, because the form has it, or a link's page. */
  readonly host?: string;
}

/** The blocked hosts, and the form that blocks another. */
export const showHosts = operatorPage("GET /admin/hosts", (inspection) => async (call, data: HostsData) => {
  const rules = await inspection.hosts(listPageOf(call));
  const host = hostOf(data.host ?? parametersOf(call.request).get("host") ?? "");
  const links = parseHost(host) === undefined ? undefined : await inspection.linksTo(host);
  return renderPage(call, data, (context) => hostsPage(context, rules, host, links));
});

/** Blocks or unblocks a host. Blocking one with many links shows their number first. */
export const decideHost = operatorForm("POST /admin/hosts", ({ operator, views }) => {
  const show = views.show(showHosts);
  return async ({ call, textOf, action, decision, actor, ...form }) => {
    const host = hostOf(textOf("host"));
    const isBlocking = action !== "unblock";
    if (isBlocking && textOf("count") === "" && parseHost(host) !== undefined) {
      const found = await searchLinks(views, { q: "", host }, { limit: MANY_LINKS + 1 });
      const isAsked =
        !("kind" in found) && isMany({ count: found.links.length, isAll: found.cursor === undefined });
      if (isAsked) return show(call, { ...form.asked(), host });
    }
    const decide = isBlocking ? operator.blockHost : operator.unblockHost;
    const outcome = await decide(host, decision, actor);
    return isProblem(outcome)
      ? show(call, { ...form.refused(outcome), host })
      : form.decided(outcome, "/admin/hosts");
  };
});

/** Reports and the address bar contain addresses. */
function hostOf(written: string): string {
  return authorityOf(written.trim()).host || written;
}

function hostsPage(
  context: PageContext,
  { items, cursor }: ListItems<HostRule>,
  host: string,
  links: HostLinks | undefined,
): Page {
  const { language, say, query, sent } = context;
  const count = links && countOf(context, links);
  return adminPage(
    context,
    "hosts",
    say("admin.hosts.title"),
    <div class="columns hosts">
      <Form
        context={context}
        action="/admin/hosts"
        hidden={{ action: "block", ...(links !== undefined && { count: String(links.count) }) }}
        kind="decision"
      >
        <Field label={say("admin.host")} input={{ name: "host", value: sent.get("host") ?? host }} />
        {count !== undefined && (
          <p class={links !== undefined && links.count > 0 ? "alert" : "hint"} role="alert">
            {say("admin.hosts.stop", { links: count })}{" "}
            <a href={withQuery("/admin/links", { host })}>{say("admin.links-to", { host })}</a>
          </p>
        )}
        <Decide
          context={context}
          action="block-host"
          reason={readReason(query["reason"] ?? "") ?? ""}
          text={count && say("admin.block.links", { links: count })}
        />
      </Form>
      <div>
        {items.length === 0 && <Empty context={context} texts={["admin.hosts.empty"]} />}
        <ul class="rows">
          {items.map((rule) => (
            <li>
              <strong>
                <HostName host={rule.host} />
              </strong>
              <Chip>{say(`reason.${rule.reason}`)}</Chip>
              <span class="hint">
                <Instant language={language} ms={rule.sinceMs} />
              </span>
              <Form context={context} action="/admin/hosts" hidden={{ action: "unblock", host: rule.host }}>
                <button class="quiet" aria-label={say("admin.unblock", { host: rule.host })}>
                  {say("admin.do.unblock-host")}
                </button>
              </Form>
            </li>
          ))}
        </ul>
        {cursor !== undefined && <More context={context} path="/admin/hosts" query={{ cursor }} />}
      </div>
    </div>,
    { summary: say("admin.hosts.intro") },
  );
}
