import type { Call, DetachedCall } from "../../http/call.ts";
import { type Show, viewEndpoint } from "../../http/endpoint.ts";
import { describe, type HttpProblem, problemJson } from "../../http/problems.ts";
import { html, prefersHtml } from "../../http/responses.ts";
import { parametersOf } from "../../http/url.ts";
import { header } from "../../lib/bounds.ts";
import { createSeal } from "../../links/secret.ts";
import type { DirectoryQuery, ListedLink } from "../../moderation/directory.ts";
import type { ListPage } from "../../moderation/inspection.ts";
import { repeatSearch } from "../../views/reads.ts";
import type { PageParts } from "../page-parts.ts";
import { answerPageProblem } from "../problem/answer.ts";
import { unknownPage } from "../problem/unknown-page.tsx";
import { ALL_PATH } from "../shared/layout.tsx";
import { directoryPage, nextOf, type Shown } from "./page.tsx";

const LIMIT = 50;
/** The limit of a page of a search, which sorts each page by itself. */
export const FOUND_LIMIT = 200;
/** In UTF-16 units. The rest of a longer text isn't searched for. */
export const MAX_TEXT = 200;
/** How long a request searches before it returns the links found so far. */
const SEARCH_MS = 1000;

/** `refused`: the reader has no name. `unknown`: the page of a code without a link. */
type Data =
  | ({ readonly kind: "list" } & Shown)
  | { readonly kind: "refused"; readonly problem: HttpProblem }
  | { readonly kind: "unknown"; readonly near: readonly ListedLink[] };

const PRIVATE = { "Cache-Control": "private, no-store" };

/** The links of colleagues. */
export const showDirectory = viewEndpoint({
  at: `GET ${ALL_PATH}`,
  cost: "work",
  view: { parameters: ["language"], render: () => renderDirectory },
  serve: (parts: Pick<PageParts, "rights" | "secret" | "views">, show: Show<Data>) => {
    // A cursor may contain the code of a link that the reader may not see.
    const { seal, open } = createSeal(parts.secret);
    return async (call: Call) => {
      const person = parts.rights.personOf(call) ?? ({ kind: "user.missing" } as const);
      if (typeof person !== "string")
        return prefersHtml(header(call.headers, "accept"))
          ? show(call, { kind: "refused", problem: person })
          : problemJson(call, person);
      const query = parametersOf(call.request);
      const text = (query.get("q") ?? "").slice(0, MAX_TEXT).toWellFormed().trim();
      const order = query.get("by") === "newest" ? "newest" : "used";
      const cursor = open(query.get("cursor") ?? "");
      const result = await read(
        parts,
        call,
        { person, text, order },
        { cursor, limit: text === "" ? LIMIT : FOUND_LIMIT },
      );
      if ("kind" in result) return answerPageProblem(call, result);
      const isEmpty = text !== "" && result.links.length === 0 && result.cursor === undefined;
      const near = isEmpty
        ? await read(parts, call, { person, text, order: "near" }, { limit: LIMIT })
        : result;
      if ("kind" in near) return answerPageProblem(call, near);
      const isSorted = text === "" || order === "newest";
      const sorted = isSorted ? result.links : result.links.toSorted(byUseOf(text));
      const links = sorted.map((link) => {
        const right = parts.rights.rightOfPerson(link.owner, link.target === undefined, person);
        return { ...link, canChange: right !== undefined };
      });
      const next = result.cursor === undefined ? undefined : seal(result.cursor);
      const shown = { text, order, links, cursor: next, searched: result.searched } as const;
      return show(call, { kind: "list", ...shown, near: isEmpty ? near.links : [] });
    };
  },
});

/** An exact match of the code first, then by visits. */
function byUseOf(text: string) {
  const isIt = ({ code }: ListedLink) => Number(code.toLowerCase() === text.toLowerCase());
  return (one: ListedLink, other: ListedLink) => isIt(other) - isIt(one) || other.visits - one.visits;
}

/** For people whom the proxy names: shows links whose codes resemble an unknown one, unless too many views wait. */
export function createNearest(parts: Pick<PageParts, "views">, show: Show<Data>) {
  return async (call: Call, person: string): Promise<Response> => {
    const near = await read(parts, call, { person, text: call.code, order: "near" }, { limit: LIMIT });
    const shown = "kind" in near ? undefined : await show(call, { kind: "unknown", near: near.links });
    return shown?.status === 404 ? shown : answerPageProblem(call, { kind: "unknown" });
  };
}

function read(
  { views }: Pick<PageParts, "views">,
  call: Call,
  query: Omit<DirectoryQuery, "keyPrefix">,
  page: ListPage,
) {
  const { keyPrefix } = call.domain;
  return repeatSearch(SEARCH_MS, page, (next) =>
    views.read("directory", { ...query, keyPrefix, page: next }, call),
  );
}

function renderDirectory(call: DetachedCall, data: Data): Response {
  const { baseUrl, codeCase, identity } = call.domain;
  if (data.kind === "unknown") {
    const { headers } = describe(data);
    const unknown = { baseUrl, codeCase, written: call.code, hasPeople: identity.hasPeople, near: data.near };
    return html(call, 404, (language) => unknownPage(language, unknown), { ...headers, ...PRIVATE });
  }
  if (data.kind === "refused") {
    const { status, headers } = describe(data.problem);
    const shown = { text: "", order: "used", links: [], near: [], cursor: undefined, searched: 1 } as const;
    return html(call, status, (language) => directoryPage(language, call.domain, shown, data.problem), {
      ...headers,
      ...PRIVATE,
    });
  }
  // Skips parts in which the search found nothing.
  const isPart = data.cursor !== undefined && data.links.length === 0;
  return html(call, 200, (language) => directoryPage(language, call.domain, data), {
    ...PRIVATE,
    ...(isPart && { Refresh: `0; url=${nextOf(data)}` }),
  });
}
