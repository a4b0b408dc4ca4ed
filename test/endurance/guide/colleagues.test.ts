// An evening of four colleagues in Chromium behind nginx, which signs them in as docs/single-sign-on.md says.
import { expect, test } from "bun:test";

import type { Page } from "playwright-core";

import { LAPTOP, openPage, openSettings, PHONE, wordsOf } from "../../browser/browser.ts";
import { FITS } from "../../browser/every-page.ts";
import { makeButton } from "../../browser/home-form.ts";
import { freePort } from "../../support/free-port.ts";
import { NGINX, OWN, startBehindNginx } from "./nginx.ts";
import { IN_NGINX, siteWith, startAuthenticator } from "./sign-in.ts";

const [FIRST, SECOND] = ["https://example.com/first", "https://example.net/second"];
const SETTINGS = {
  // Chromium reaches nginx by its address, and with one domain each host is right.
  DOMAINS: "",
  CREATE_USER_HEADER: "Remote-Creator",
  ADMIN_USER_HEADER: "Remote-User",
  EDITORS: "everybody",
  HOME_URL: "https://www.example.com",
};
const say = wordsOf("en");

if (NGINX !== null)
  test("colleagues create, find, correct, bring back and hand over links, until one of them leaves", async () => {
    const port = await freePort();
    await using _ = startAuthenticator(port);
    const part = IN_NGINX.find((text) => text.includes("9091")) ?? "";
    const file = siteWith(part.replaceAll("127.0.0.1:9091", `127.0.0.1:${port}`));
    await using site = await startBehindNginx(file, SETTINGS);
    const signIn = async (name: string, viewport = LAPTOP) => {
      const page = await openPage(site.origin, { ignoreHTTPSErrors: true, viewport });
      await page.context().addCookies([{ name: "session", value: `of-${name}`, url: site.origin }]);
      return page;
    };
    const destination = async () => (await site.get(OWN, "/handbook")).headers.get("location");
    const press = (page: Page, name: string) => page.getByRole("button", { name }).click();
    const fill = (page: Page, name: string, text: string) =>
      page.getByLabel(name, { exact: true }).fill(text);
    const shows = (page: Page, within: string, text: string) =>
      page.locator(within).getByText(text).waitFor();
    await using mina = await signIn("mina");
    await using joon = await signIn("joon");
    await using yuna = await signIn("yuna", PHONE);
    await using hana = await signIn("hana");

    // Mina creates a link.
    await mina.goto("/+all");
    await mina.getByRole("link", { name: say("preview.another") }).click();
    await mina.waitForURL("/+new");
    await fill(mina, say("home.url"), FIRST);
    await mina.locator("[name=custom_code]").fill("handbook");
    await mina.getByText(say("home.more")).click();
    await mina.locator("[name=title]").fill("Staff rules");
    await makeButton(mina).click();
    await mina.waitForURL("/handbook+");
    // Joon finds it by its title and by its owner, and corrects it. An editor neither hands over nor withdraws.
    for (const text of ["staff", "mina"]) {
      await joon.goto("/+all");
      await fill(joon, say("all.search"), text);
      await press(joon, say("admin.search"));
      await joon.waitForURL(`/+all?q=${text}`);
      await shows(joon, ".links li", "/handbook");
    }
    await joon.getByRole("link", { name: say("manage.change") }).click();
    await fill(joon, say("manage.target"), SECOND);
    expect(await joon.locator("[name=owner], [name=sure]").count()).toBe(0);
    await press(joon, say("manage.save"));
    await shows(joon, "[role=status]", say("link.changed"));
    expect(await destination()).toBe(SECOND);
    // Yuna sees on her phone who did that and when, and brings the former destination back.
    await yuna.goto("/handbook+manage");
    const [change] = await yuna.locator(".history li").allInnerTexts();
    expect(change).toMatch(new RegExp(`joon.*\\d\\d:\\d\\d[^]*${FIRST}[^]*${SECOND}`));
    expect(await FITS[1](yuna)).toEqual([]);
    await press(yuna, say("manage.bring-back"));
    await shows(yuna, "[role=status]", say("link.changed"));
    expect(await destination()).toBe(FIRST);
    // Mina hands it over.
    await mina.goto("/handbook+manage");
    await openSettings(mina);
    await fill(mina, say("manage.owner"), "hana");
    await press(mina, say("manage.hand-over"));
    await shows(mina, ".history", say("admin.did.hand-over"));
    await hana.goto("/+links");
    await shows(hana, ".links li", "/handbook");
    // The proxy names nobody at an unknown code, which leads to the search, and on to the form.
    await joon.goto("/handbok");
    await press(joon, say("all.search-all"));
    await joon.getByRole("link", { name: "/handbook" }).waitFor();
    await press(joon, say("page.unknown.make"));
    await joon.waitForURL(/\+new/);
    expect(await joon.locator("[name=custom_code]").inputValue()).toBe("handbok");
    await joon.goto("/+go?q=staff+rules");
    await shows(joon, ".links li", "hana");
    // Hana leaves. The operator gives all her links to Joon, who may withdraw it.
    await yuna.goto("/admin/links?q=owner:hana");
    await yuna.getByRole("link", { name: say("admin.found.hand-over") }).click();
    await fill(yuna, say("manage.owner"), "joon");
    await press(yuna, say("manage.hand-over"));
    await shows(yuna, "main", say("admin.links.none"));
    await joon.goto("/handbook+manage");
    await openSettings(joon);
    await joon.locator("[name=sure]").check();
    await press(joon, say("manage.withdraw"));
    await shows(joon, "[role=status]", say("link.ended"));
    expect((await joon.goto("/handbook"))?.status()).toBe(410);
  });
