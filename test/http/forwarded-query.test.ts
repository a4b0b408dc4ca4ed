import { beforeAll, describe, expect, test } from "bun:test";

import en from "../../src/locales/en.json";
import ko from "../../src/locales/ko.json";
import { addGuarded } from "../support/guarded-links.ts";
import { callApi, createManagedLink } from "../support/managed-links.ts";
import { type RunningService, shareService, startService, temporaryFolder } from "../support/service.ts";
import { linkOf, untilCounted, WINDOWS_CHROME } from "../visits/visits.ts";
import { elementsOf, HTML, sendForm } from "./markup.ts";
import { sendRaw } from "./raw.ts";

const TARGET = "https://shop.example/?own=1#part";
const FORWARDED = "https://shop.example/?own=1&utm=1&a=2&a=1#part";
const QUERY = "?utm=1&own=2&a=2&a=1";
const PASSWORD = "open sesame";
const AUTHORIZATION = { Authorization: `Basic ${btoa(`:${PASSWORD}`)}` };
const PERSON = { "User-Agent": WINDOWS_CHROME, ...HTML };
const FROM_HERE = {
  ...PERSON,
  "Sec-Fetch-Dest": "document",
  "Sec-Fetch-Mode": "navigate",
  "Sec-Fetch-Site": "same-origin",
};

/** The status and the Location of a response. */
async function follow(service: RunningService, path: string, init: BunFetchRequestInit = {}) {
  const response = await service.fetch(path, init);
  await response.bytes();
  return [response.status, response.headers.get("location")];
}

const cookiesOf = ({ headers }: Response) => ({
  Cookie: headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0])
    .join("; "),
});

async function post(service: RunningService, path: string, form: Readonly<Record<string, string>>) {
  const response = await sendForm(service, path, form, FROM_HERE);
  return { response, outcome: [response.status, response.headers.get("location")] };
}

describe("a link with forward_query", () => {
  const curt = shareService({ CACHE_SECONDS: "60" });
  let code: string;
  beforeAll(async () => {
    ({ code } = await createManagedLink(curt, { target: TARGET, forward_query: true }));
  });

  test("appends the visitor's query to its destination, for GET and HEAD", async () => {
    for (let nth = 0; nth < 2; nth++)
      for (const method of ["GET", "HEAD"])
        for (const slash of ["", "/"]) {
          expect(await follow(curt, `/${code}${slash}${QUERY}`, { method })).toEqual([302, FORWARDED]);
          expect(await follow(curt, `/${code}${slash}`, { method })).toEqual([302, TARGET]);
          expect(await follow(curt, `/${code}${slash}?`, { method })).toEqual([302, TARGET]);
        }
  });

  test("sends the headers of any other link, except that no cache may store the response", async () => {
    const plain = await createManagedLink(curt, { target: TARGET });
    const [theirs = new Headers(), ours = new Headers()] = await Promise.all(
      [plain.code, code].map(async (one) => (await curt.fetch(`/${one}`)).headers),
    );
    expect(theirs.get("cache-control")).toBe("public, max-age=0, s-maxage=60");
    theirs.set("Cache-Control", "no-store");
    for (const headers of [theirs, ours]) headers.delete("date");
    expect(Object.fromEntries(ours)).toEqual(Object.fromEntries(theirs));
  });

  test("counts visits, but neither prefetches nor HEAD requests", async () => {
    const { code: counted } = await createManagedLink(curt, { target: TARGET, forward_query: true });
    await curt.fetch(`/${counted}${QUERY}`, { headers: PERSON });
    await curt.fetch(`/${counted}${QUERY}`, { headers: { ...PERSON, "Sec-Purpose": "prefetch" } });
    await curt.fetch(`/${counted}${QUERY}`, { method: "HEAD", headers: PERSON });
    await curt.fetch(`/${counted}`, { headers: PERSON });
    await untilCounted(curt, counted, 2);
    expect((await linkOf(curt, counted))["visits"]).toBe(2);
  });

  test("answers 405 to a form", async () => {
    const response = await sendForm(curt, `/${code}${QUERY}`, {}, FROM_HERE);
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
  });

  test("passes on a hundred parameters, and no query with more", async () => {
    const pairs = Array.from({ length: 100 }, (_, nth) => `a=${nth}`).join("&");
    const target = "https://shop.example/";
    const { code: all } = await createManagedLink(curt, { target, forward_query: true });
    expect(await follow(curt, `/${all}?${pairs}`)).toEqual([302, `${target}?${pairs}`]);
    expect(await follow(curt, `/${all}?${pairs}&a`)).toEqual([302, target]);
  });

  test("drops a query that would make the destination longer than 16,384 characters", async () => {
    // A request has at most 16 KB.
    const target = `https://shop.example/${"p".repeat(8000)}`;
    const { code: long } = await createManagedLink(curt, { target, forward_query: true });
    const room = 16_384 - `${target}?`.length;
    for (const [query, length] of [
      ["x".repeat(room), 16_384],
      ["x".repeat(room + 1), target.length],
      ["%61".repeat(room / 3), 16_384 - (room % 3)],
      // Each takes six characters in a header.
      ["ä".repeat(room / 6 + 1), target.length],
    ] as const) {
      const [, location] = await follow(curt, `/${long}?${query}`);
      expect(String(location).length).toBe(length);
    }
    const raw = Buffer.from(
      `GET /${code}?${"ä".repeat(8000)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    expect((await sendRaw(curt.origin, raw)).slice(0, 1000)).toContain(`\r\nLocation: ${TARGET}\r\n`);
  });

  test("keeps the bytes of the query, and percent-encodes those that no URL may contain", async () => {
    for (const [version, host] of [
      ["1.1", "Host: x\r\n"],
      ["1.0", ""],
    ])
      for (const [sent, received] of [
        ["?a=%7e&B=+&&c=[x]|%zz", "a=%7e&B=+&&c=[x]|%zz"],
        ["?한=글", "%ED%95%9C=%EA%B8%80"],
        ["?a=\"<>'", "a=%22%3C%3E%27"],
        ["?a=1#b", "a=1"],
      ])
        expect(
          await sendRaw(
            curt.origin,
            Buffer.from(`GET /${code}${sent} HTTP/${version}\r\n${host}Connection: close\r\n\r\n`),
          ),
        ).toContain(`\r\nLocation: https://shop.example/?own=1&${received}#part\r\n`);
  });

  test("is described on its preview and QR page, which ignore the query", async () => {
    const plain = await createManagedLink(curt, { target: TARGET });
    const fact = `<dt>${en.forward_query}</dt><dd>${en["forward_query.yes"]}</dd>`;
    for (const suffix of ["+", "+qr"]) {
      const page = await (await curt.fetch(`/${code}${suffix}${QUERY}`, { headers: HTML })).text();
      expect(page).toContain(fact);
      expect(page).not.toContain("utm");
      expect(await (await curt.fetch(`/${plain.code}${suffix}`, { headers: HTML })).text()).not.toContain(
        fact,
      );
    }
    for (const extension of [".svg", ".png"]) {
      const [image, same] = await Promise.all(
        ["", QUERY].map(async (query) => (await curt.fetch(`/${code}${extension}${query}`)).bytes()),
      );
      expect(image).toEqual(same);
    }
    expect((await callApi(curt, "GET", `/api/v1/links/${code}${QUERY}`)).data.target).toBe(TARGET);
  });

  test("starts and stops forwarding when it is changed", async () => {
    const { code: changed, path, key } = await createManagedLink(curt, { target: TARGET });
    const change = (forward_query: boolean | null) =>
      callApi(curt, "PATCH", path, { key, body: { forward_query } });
    for (const value of [true, false, true, null]) {
      // The second request may hit the cache.
      for (let nth = 0; nth < 2; nth++)
        expect((await follow(curt, `/${changed}${QUERY}`))[1]).not.toBe(FORWARDED);
      await change(value);
      const destination = value === true ? FORWARDED : TARGET;
      for (let nth = 0; nth < 2; nth++)
        expect(await follow(curt, `/${changed}${QUERY}`)).toEqual([302, destination]);
      if (value === true) await change(false);
    }
  });

  test("still forwards after a restart", async () => {
    using folder = temporaryFolder();
    const options = { folder: folder.path };
    let restarted: string;
    {
      await using before = await startService({}, options);
      ({ code: restarted } = await createManagedLink(before, { target: TARGET, forward_query: true }));
    }
    await using after = await startService({}, options);
    expect(await follow(after, `/${restarted}${QUERY}`)).toEqual([302, FORWARDED]);
  });

  test("forwards after the right password by header, form or cookie", async () => {
    await addGuarded(curt, "closed", { target: TARGET, password: PASSWORD, forwardQuery: true });
    const path = `/closed${QUERY}`;
    for (const method of ["GET", "HEAD"])
      expect(await follow(curt, path, { method, headers: AUTHORIZATION })).toEqual([302, FORWARDED]);
    const challenge = await curt.fetch(path, { headers: PERSON });
    expect([challenge.status, challenge.headers.get("location")]).toEqual([403, null]);
    // A form without an action is sent to the page's address, with its query.
    const forms = (await elementsOf(challenge)).filter(({ tag }) => tag === "form");
    expect(forms.map(({ attributes }) => attributes)).toEqual([{ method: "post", novalidate: "" }]);
    const { response, outcome } = await post(curt, path, { password: PASSWORD });
    expect(outcome).toEqual([303, FORWARDED]);
    expect(await follow(curt, `/closed?b=1`, { headers: cookiesOf(response) })).toEqual([
      302,
      "https://shop.example/?own=1&b=1#part",
    ]);
  });

  test("forwards as often as max_visits allows, then answers 410", async () => {
    await addGuarded(curt, "twice", { target: TARGET, maxVisits: 2, forwardQuery: true });
    expect(await follow(curt, `/twice${QUERY}`, { method: "HEAD" })).toEqual([200, null]);
    expect(await follow(curt, `/twice${QUERY}`)).toEqual([302, FORWARDED]);
    expect(await follow(curt, `/twice`)).toEqual([302, TARGET]);
    expect((await follow(curt, `/twice${QUERY}`))[0]).toBe(410);
  });
});

describe("a link with forward_query behind the interstitial", () => {
  const curt = shareService({ INTERSTITIAL: "all" });
  const FROM_ELSEWHERE = { ...FROM_HERE, "Sec-Fetch-Site": "cross-site" };
  const TERMS = [
    ["no terms", {}],
    ["max_visits", { maxVisits: 1 }],
    ["a password", { password: PASSWORD }],
  ] as const;

  test.each(TERMS)(
    "forwards when a person continues, without the page's language parameter (%s)",
    async (_terms, terms) => {
      const code = Object.keys(terms).join("") || "open";
      await addGuarded(curt, code, { target: TARGET, forwardQuery: true, ...terms });
      const path = `/${code}?language=ko&utm=1`;
      const interstitial = await curt.fetch(path, { headers: { ...FROM_ELSEWHERE, ...AUTHORIZATION } });
      const page = await interstitial.clone().text();
      expect(page).toContain(ko["interstitial.title"]);
      // Choosing a language keeps the query, on the page that asks for the password as well.
      const locked = await curt.fetch(path, { headers: FROM_ELSEWHERE });
      for (const shown of [page, await locked.text()]) {
        const choices = [...shown.matchAll(/href="(\?[^"]*)" hreflang/g)].map(([, href]) => href);
        const languages = ["en", "ja", "ko"].map((language) => `?utm=1&amp;language=${language}`);
        expect(new Set(choices)).toEqual(new Set(languages));
      }
      const forms = (await elementsOf(interstitial)).filter(({ tag }) => tag === "form");
      expect(forms.map(({ attributes }) => attributes)).toEqual([{ method: "post" }]);
      expect(interstitial.headers.get("content-security-policy")).not.toContain("form-action");
      const form = "password" in terms ? { password: PASSWORD } : {};
      const { response, outcome } = await post(curt, path, form);
      if ("password" in terms) {
        expect(await response.text()).toContain(ko["interstitial.title"]);
        const redirect = await sendForm(curt, path, {}, { ...FROM_HERE, ...cookiesOf(response) });
        expect([redirect.status, redirect.headers.get("location")]).toEqual([
          303,
          "https://shop.example/?own=1&utm=1#part",
        ]);
      } else expect(outcome).toEqual([303, "https://shop.example/?own=1&utm=1#part"]);
    },
  );

  test("redirects automated clients without the page, for GET and HEAD", async () => {
    await addGuarded(curt, "client", { target: TARGET, forwardQuery: true });
    for (const method of ["GET", "HEAD"])
      expect(await follow(curt, `/client${QUERY}`, { method })).toEqual([302, FORWARDED]);
  });

  test("counts a visit when the page is shown, and not when the person continues", async () => {
    await addGuarded(curt, "counted", { target: TARGET, forwardQuery: true });
    await curt.fetch(`/counted${QUERY}`, { headers: FROM_ELSEWHERE });
    await curt.fetch(`/counted${QUERY}`, { method: "HEAD", headers: FROM_ELSEWHERE });
    await curt.fetch(`/counted${QUERY}&language=ko`, { headers: FROM_HERE });
    expect((await post(curt, `/counted${QUERY}`, {})).outcome).toEqual([303, FORWARDED]);
    await curt.fetch(`/counted${QUERY}`, { headers: FROM_ELSEWHERE });
    await untilCounted(curt, "counted", 2);
    expect((await linkOf(curt, "counted"))["visits"]).toBe(2);
  });

  test("refuses the form of another site", async () => {
    await addGuarded(curt, "theirs", { target: TARGET, forwardQuery: true });
    expect((await sendForm(curt, `/theirs${QUERY}`, {}, FROM_ELSEWHERE)).status).toBe(403);
  });
});
