// Lets browsers offer short addresses in their address bar (OpenSearch 1.1, https://github.com/dewitt/opensearch).
import type { Call, Handler } from "../../http/call.ts";
import { endpoint } from "../../http/endpoint.ts";
import { pageLanguage } from "../../http/page-language.ts";
import { answer } from "../../http/responses.ts";
import { parametersOf } from "../../http/url.ts";
import { MAX_PATH } from "../../lib/bounds.ts";
import { isProblem } from "../../links/problem.ts";
import { message } from "../../locales/messages.ts";
import type { PageParts } from "../page-parts.ts";
import { escape } from "../shared/html/jsx-runtime.ts";
import { ALL_PATH } from "../shared/layout.tsx";
import { withQuery } from "../shared/with-query.ts";

/** In characters, by the specification. */
const MAX_SHORT_NAME = 16;

/** Describes the search, for browsers. Every page links to it. */
export const describeSearch = endpoint({
  at: "GET /+search.xml",
  cost: "little",
  serve: () => (call: Call) => {
    const { origin, identity } = call.domain;
    const { language, headers } = pageLanguage(call.request);
    const shortName = Array.from(identity.name).slice(0, MAX_SHORT_NAME).join("");
    const description = message(language, "search.description", { host: new URL(origin).host });
    const { icon } = identity.assets;
    return answer({
      type: "application/opensearchdescription+xml; charset=utf-8",
      cache: "private, max-age=86400",
      headers: { ...headers, "Content-Language": language },
      body: `<?xml version="1.0" encoding="UTF-8"?>
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
<ShortName>${escape(shortName)}</ShortName>
<Description>${escape(description)}</Description>
<InputEncoding>UTF-8</InputEncoding>
<Image width="16" height="16" type="${icon.type}">${origin}${icon.path}</Image>
<Url type="text/html" method="get" template="${origin}/+go?q={searchTerms}"/>
<Url type="application/opensearchdescription+xml" rel="self" template="${origin}/+search.xml"/>
</OpenSearchDescription>
`,
    });
  },
});

/**
 * Redirects from words to the short address that they mean. If no link has it, its page suggests others, and people whom the proxy
 * names get the directory's search.
 */
export const goTo = endpoint({
  at: "GET /+go",
  cost: "little",
  serve:
    ({ notFound, links, rights }: Pick<PageParts, "links" | "rights"> & { readonly notFound: Handler }) =>
    async (call: Call) => {
      const words = parametersOf(call.request).get("q") ?? "";
      const [, code = ""] = partsOf(words);
      const isUnknown =
        code !== "" &&
        typeof rights.personOf(call) === "string" &&
        isProblem(await links.find(code, "maker"));
      const address = isUnknown
        ? withQuery(ALL_PATH, { q: words })
        : (addressOf(words) ?? call.domain.identity.formPath);
      return address.length > MAX_PATH
        ? notFound(call)
        : answer({ status: 302, headers: { Location: address, "Cache-Control": "no-store" } });
    },
});

/** The whole text, its code, and the rest. */
function partsOf(words: string): readonly (string | undefined)[] {
  const text = words
    .toWellFormed()
    .trim()
    .replace(/^[\s/\\]+/, "");
  return /^([^\s/]+)[\s/]*(.*)$/s.exec(text) ?? [];
}

/**
 * Makes `/jira/ABC-123` of "jira ABC-123" and of "/jira/ABC-123". Undefined without words. The result never starts with two
 * slashes, which would lead to another host.
 */
function addressOf(words: string): string | undefined {
  const [, code = "", path = ""] = partsOf(words);
  if (code === "") return undefined;
  const segments = [code, ...(path === "" ? [] : path.split("/"))];
  return `/${segments.map(encodeURIComponent).join("/")}`;
}
