/** @jsxImportSource ../shared/html */
import type { DetachedCall } from "../../http/call.ts";
import { viewEndpoint } from "../../http/endpoint.ts";
import type { Page } from "../../http/page.ts";
import { FINDABLE, html } from "../../http/responses.ts";
import { message, type MessageKey } from "../../locales/messages.ts";
import { page, PRIVACY_PATH } from "../shared/layout.tsx";

/** Says which data about visitors Curt stores. */
export const showPrivacy = viewEndpoint({
  at: `GET ${PRIVACY_PATH}`,
  cost: "shared",
  view: {
    render: (privacy: Privacy) => (call: DetachedCall) =>
      html(call, 200, (language) => privacyPage(language, privacy), FINDABLE),
  },
});

/** The settings that change the page. */
export interface Privacy {
  readonly statsShown: "safe" | "all" | "count";
  readonly statsKeepDays: number;
  readonly createUserHeader: string | null;
}

/** A summary of docs/privacy.md for visitors. */
function privacyPage(language: string, { statsShown, statsKeepDays, createUserHeader }: Privacy): Page {
  const actions = [
    ["privacy.visit", message(language, "privacy.visit.kept", { days: statsKeepDays })],
    ["privacy.public", message(language, `privacy.public.${statsShown}`)],
    ["privacy.make", message(language, "privacy.make.kept")],
    ...(createUserHeader === null
      ? []
      : [["privacy.people", message(language, "privacy.people.kept")] as const]),
    ["privacy.report", message(language, "privacy.report.kept")],
  ] as const;
  const technical = [
    ["privacy.cookies", message(language, "privacy.cookies.kept")],
    ["privacy.limits", message(language, "privacy.limits.kept")],
  ] as const;
  const write = (sections: readonly (readonly [title: MessageKey, text: string])[]) =>
    sections.map(([title, text]) => (
      <>
        <h2>{message(language, title)}</h2>
        {text.split("\n").map((paragraph) => (
          <p>{paragraph}</p>
        ))}
      </>
    ));
  const title = message(language, "privacy.title");
  return page(
    language,
    { title, path: PRIVACY_PATH },
    <>
      <h1>{title}</h1>
      <p class="lead">{message(language, "privacy.intro")}</p>
      <div class="columns wide">
        <div>{write(actions)}</div>
        <aside>
          {write(technical)}
          <p>{message(language, "privacy.proxy")}</p>
        </aside>
      </div>
    </>,
  );
}
