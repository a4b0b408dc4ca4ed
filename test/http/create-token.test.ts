import { expect, test } from "bun:test";

import en from "../../src/locales/en.json";
import { shareService, startService } from "../support/service.ts";
import { elementsOf, HTML, sendForm } from "./markup.ts";
import { textOf } from "./samples.ts";

const TOKEN = "correct-horse-battery";
const LONG = "https://example.com/long";

const curt = shareService({ CREATE_TOKEN: TOKEN });

const send = (fields: Record<string, string>) => sendForm(curt, "/", fields);

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

test("POST /api/v1/shorten answers 401 without exactly the token, whatever the case of Bearer", async () => {
  for (const [authorization, status] of [
    [{}, 401],
    [{ Authorization: "" }, 401],
    [{ Authorization: "Bearer" }, 401],
    [{ Authorization: TOKEN }, 401],
    [{ Authorization: `Basic ${TOKEN}` }, 401],
    [bearer(TOKEN.slice(1)), 401],
    [bearer(`${TOKEN}x`), 401],
    [bearer(TOKEN.toUpperCase()), 401],
    [bearer(TOKEN), 201],
    [{ authorization: `bearer  ${TOKEN}` }, 201],
  ] as const) {
    const response = await curt.shorten({ original_url: LONG }, authorization);
    expect([authorization, response.status]).toEqual([authorization, status]);
    expect(response.headers.get("www-authenticate")).toBe(status === 401 ? "Bearer" : null);
    if (status === 401) expect(await response.json()).toEqual({ status: "error", message: en.token });
  }
});

test("redirects, previews, images, reads and the reference need no token", async () => {
  await curt.shorten({ original_url: LONG, custom_code: "mine" }, bearer(TOKEN));
  for (const [path, status] of [
    ["/mine", 302],
    ["/mine+", 200],
    ["/mine.svg", 200],
    ["/api/v1/links/mine", 200],
    ["/api/v1/codes/mine", 200],
    ["/api/v1/shorten", 200],
    ["/docs", 200],
  ] as const)
    expect((await curt.fetch(path)).status, path).toEqual(status);
});

test("the form asks for the token, accepts it with spaces around it, and doesn't repeat it in a refusal", async () => {
  const isTokenField = ({ attributes }: { attributes: Readonly<Record<string, string>> }) =>
    attributes["name"] === "token";
  const [field, ...more] = (await elementsOf(await curt.fetch("/", { headers: HTML }))).filter(isTokenField);
  expect(more).toEqual([]);
  expect(field?.attributes).toMatchObject({ type: "password", autocomplete: "current-password" });
  expect((await send({ original_url: LONG, custom_code: "form", token: ` ${TOKEN} ` })).status).toBe(303);
  const taken = await send({ original_url: LONG, custom_code: "form", token: TOKEN });
  expect([taken.status, (await taken.text()).includes(TOKEN)]).toEqual([409, false]);
});

test("a service without CREATE_TOKEN asks for none, and documents none", async () => {
  await using open = await startService();
  expect(await (await open.fetch("/", { headers: HTML })).text()).not.toContain('name="token"');
  expect((await open.shorten({ original_url: LONG }, bearer("whatever"))).status).toBe(201);
  const { components, paths } = (await (await open.fetch("/api/v1/openapi.json")).json()) as any;
  expect(Object.keys(components.securitySchemes)).toEqual(["manageKey"]);
  expect(paths["/api/v1/shorten"].post.security).toBeUndefined();
});

test("the reference and the OpenAPI document say that creating links needs the token", async () => {
  const document = (await (await curt.fetch("/api/v1/openapi.json")).json()) as any;
  expect(document.components.securitySchemes.token).toEqual({ type: "http", scheme: "bearer" });
  expect(document.paths["/api/v1/links"].post.security).toEqual([{ token: [] }]);
  const { post, get } = document.paths["/api/v1/shorten"];
  expect([post.security, get.security]).toEqual([[{ token: [] }], undefined]);
  expect(Object.keys(post.responses)).toContain("401");
  const page = await (await curt.fetch("/docs", { headers: HTML })).text();
  expect(page).toContain("Needed only to create links");
  expect(textOf(page)).toContain("-H 'Authorization: Bearer YOUR_TOKEN'");
});
