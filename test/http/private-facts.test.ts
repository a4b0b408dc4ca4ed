// Looks for what not everybody sees of a link in every public response. A new endpoint or private term needs nothing here.
import { describe, expect, test } from "bun:test";

import type { PrivateName } from "../../src/links/terms/terms.ts";
import { PUBLIC } from "../../src/server/routes.ts";
import { operateAs, TOKEN } from "../admin/operator.ts";
import { callApi, createManagedLink, TARGET } from "../support/managed-links.ts";
import { disableLink, shareService, type RunningService } from "../support/service.ts";
import { HTML } from "./markup.ts";

/** Letters and digits only, so no encoding changes it. */
const SECRET = "zebra4711";
/** A private term that is missing here doesn't compile. */
const PRIVATE: Readonly<Record<PrivateName, string>> = { title: `${SECRET} too` };
const MAKER = "a-long-token-of-the-maker";
const OTHER = "a-long-token-of-another-caller";
const SETTINGS = { ADMIN_TOKEN: TOKEN, CREATE_TOKEN: `${SECRET}:${MAKER} other:${OTHER}` };
const SERVICES = {
  "a service": shareService(SETTINGS),
  "a service with the interstitial": shareService({ ...SETTINGS, INTERSTITIAL: "all" }),
};

const LINKS = {
  plain: {},
  secret: { password: "open sesame" },
  limited: { max_visits: 100_000 },
  forwarding: { forward_query: true },
  scheduled: { starts_at: "48h" },
  withdrawn: {},
  disabled: {},
};

const BROWSER = {
  ...HTML,
  "User-Agent":
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
};

/** Each body holds what all endpoints take, because they ignore or refuse the rest. */
const JSON_BODIES = (code: string) => [
  { target: TARGET, code },
  { original_url: TARGET, custom_code: code },
  { reason: "spam", note: "A fake shop." },
];
const FORMS = (code: string) => [
  { original_url: TARGET, custom_code: code, token: OTHER },
  { reason: "spam", note: "A fake shop." },
  { password: "open sesame" },
  { password: "wrong" },
  { key: "wrong", act: "change", target: TARGET },
  {},
];

interface Sent {
  readonly request: string;
  readonly response: Response;
}

/** Sends every request that a visitor can send about a link. */
async function* visit(curt: RunningService, code: string): AsyncGenerator<Sent> {
  for (const address of Object.keys(PUBLIC)) {
    const [method = "", path = ""] = address.split(" ");
    const send = async (
      init: RequestInit & { headers?: Record<string, string> },
      query = "",
    ): Promise<Sent> => ({
      request: `${init.method ?? method} ${path}${query} ${JSON.stringify(init)}`,
      response: await curt.fetch(path.replace("{code}", code) + query, {
        redirect: "manual",
        method,
        ...init,
      }),
    });
    if (method === "GET") {
      yield send({ method: "HEAD", headers: BROWSER });
      for (const query of ["", `?address=${code}&code=${code}&original_url=${code}`])
        for (const headers of [
          {},
          BROWSER,
          { ...BROWSER, Authorization: `Bearer wrong` },
          { Authorization: `Bearer ${OTHER}` },
        ])
          yield send({ headers }, query);
      continue;
    }
    for (const body of [...JSON_BODIES(code), [JSON_BODIES(code)[0]]])
      for (const key of [OTHER, "wrong"])
        yield send({
          body: JSON.stringify(body),
          headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
        });
    for (const form of FORMS(code))
      yield send({
        body: new URLSearchParams(form).toString(),
        headers: { ...BROWSER, "Content-Type": "application/x-www-form-urlencoded" },
      });
  }
}

describe("a title", () => {
  // Charts change every quarter of an hour.
  const curt = shareService({}, { startMs: Date.UTC(2026, 10, 21, 16, 5) });

  test("changes no public tag", async () => {
    const { code, path, key } = await createManagedLink(curt);
    const tagsOf = (addresses: readonly string[]) =>
      Promise.all(
        addresses.map(async (address) =>
          (await curt.fetch(address, { headers: BROWSER })).headers.get("etag"),
        ),
      );
    const addresses = [path, `${path}/stats`, `/${code}+`, `/${code}.svg`, `/${code}.png`];
    const before = await tagsOf(addresses);
    expect(before).not.toContain(null);
    for (const title of ["Spring sale", "Autumn sale"]) {
      expect((await callApi(curt, "PATCH", path, { key, body: { title } })).status).toBe(200);
      expect(await tagsOf(addresses)).toEqual(before);
    }
    const refused = await callApi(curt, "PATCH", path, {
      key,
      body: { target: TARGET },
      ifMatch: before[0] ?? "",
    });
    expect([refused.status, refused.message]).toEqual([412, expect.stringContaining("with the key")]);
  });
});

describe.each(Object.entries(SERVICES))("%s", (name, curt) => {
  async function create(kind: keyof typeof LINKS) {
    const code = `${kind}-${name.length}`;
    const body = { target: TARGET, code, ...PRIVATE, ...LINKS[kind] };
    const { status, data } = await callApi(curt, "POST", "/api/v1/links", { key: MAKER, body });
    expect(status).toBe(201);
    const key = data.manage_key as string;
    if (kind === "withdrawn") await callApi(curt, "DELETE", `/api/v1/links/${code}`, { key });
    if (kind === "disabled") await disableLink(curt, code, "spam");
    return { code, key, data };
  }

  test.each(Object.keys(LINKS) as (keyof typeof LINKS)[])("hides them of a %s link", async (kind) => {
    const { code, data } = await create(kind);
    expect(JSON.stringify(data)).toContain(SECRET);
    expect(JSON.stringify((await operateAs(curt)("GET", `links/${code}`)).data)).toContain(SECRET);
    const statuses = new Set<number>();
    for await (const { request, response } of visit(curt, code)) {
      const text = `${JSON.stringify([...response.headers])}\n${await response.text()}`;
      statuses.add(response.status);
      expect(text.includes(SECRET), request).toBeFalse();
    }
    expect(statuses).toContain(200);
  });
});
