import { describe, expect, test } from "bun:test";

import { createClient } from "../../client/client.ts";
import { shareService, startService } from "../support/service.ts";
import { failureOf } from "./failure.ts";

const curt = shareService();

const TARGET = "https://example.com/a/long/address";

/** A fetch that loses every other response, starting with the first. */
function createLossyFetch() {
  let count = 0;
  const lossyFetch = async (url: string, init: RequestInit) => {
    const response = await fetch(url, init);
    if (count++ % 2 === 0) throw new Error("the connection broke");
    return response;
  };
  return { fetch: lossyFetch, count: () => count };
}

describe("@curt/client", () => {
  test("refuses codes that can't be sent with the service's reason, and idempotency keys that can't with a TypeError", async () => {
    const client = createClient({ baseUrl: curt.origin });
    for (const code of ["..", ".", "a/b"])
      expect((await failureOf(client.checkCode(code))).reason).toBe("code.character");
    expect((await failureOf(client.links.get(".."))).reason).toBe("link.unknown");
    expect((await failureOf(client.links.get("\uD800"))).reason).toBe("link.unknown");
    expect(client.shorten(TARGET, {}, { idempotencyKey: "열쇠" })).rejects.toThrow(TypeError);
  });

  test("creates, reads and reports links, and checks whether codes are free", async () => {
    const client = createClient({ baseUrl: curt.origin });
    expect((await client.shorten(TARGET)).short_url).toStartWith("https://curt.example/");
    expect(await client.checkCode("한글")).toMatchObject({ available: true });
    const link = await client.shorten(TARGET, { custom_code: "한글", expire_duration: "24h" });
    expect(link).toMatchObject({ code: "한글", original_url: TARGET });
    expect(link.manage_key).toMatch(/^[\w-]{22}$/);
    expect(await client.checkCode("한글")).toMatchObject({ available: false });
    expect(await client.links.get("한글")).toMatchObject({ code: "한글", visits: 0 });
    const query = { from: "2026-01-01", to: "2026-01-31", tz: "Asia/Seoul", interval: undefined };
    expect((await client.links.statistics("한글", query)).series).toHaveLength(31);
    expect(await client.links.report("한글", { reason: "spam" })).toMatchObject({ reason: "spam" });
  });

  test("creates links with terms", async () => {
    const client = createClient({ baseUrl: curt.origin });
    const starts_at = "2040-01-01T00:00:00.000Z";
    const terms = { target: TARGET, starts_at, max_visits: 3 };
    const link = await client.links.create({ ...terms, password: "correct horse" });
    expect(link).toMatchObject({ ...terms, has_password: true, state: "scheduled" });
    expect(link.manage_key).toMatch(/^[\w-]{22}$/);
  });

  test("changes and withdraws links with their key and ETag, even if a response is lost", async () => {
    const client = createClient({ baseUrl: curt.origin });
    const { code, manage_key } = await client.links.create({ target: TARGET, password: "correct horse" });
    expect((await client.links.get(code)).target).toBeNull();
    expect((await client.links.get(code, { key: manage_key })).target).toBe(TARGET);
    const changes = { target: "https://example.com/b", password: null };
    expect(await client.links.update(code, manage_key, changes)).toMatchObject({
      target: "https://example.com/b",
      has_password: false,
    });
    expect((await curt.fetch(`/${code}`)).headers.get("location")).toBe("https://example.com/b");
    const wrong = await failureOf(client.links.update(code, "wrong", {}));
    expect([wrong.status, wrong.reason]).toEqual([403, "key.wrong"]);
    const { etag: ifMatch } = await client.links.get(code, { key: manage_key });
    const changed = await client.links.update(code, manage_key, { max_visits: 9 }, { ifMatch });
    expect(changed.etag).not.toBe(ifMatch);
    for (const call of [
      () => client.links.update(code, manage_key, {}, { ifMatch }),
      () => client.links.withdraw(code, manage_key, { ifMatch }),
    ])
      expect(await failureOf(call())).toMatchObject({ status: 412, reason: "precondition.failed" });

    const unlucky = createClient({ baseUrl: curt.origin, fetch: createLossyFetch().fetch });
    expect(await unlucky.links.withdraw(code, manage_key)).toMatchObject({ state: "withdrawn", manage_key });
    expect((await client.links.withdraw(code, manage_key)).state).toBe("withdrawn");
    expect((await curt.fetch(`/${code}`)).status).toBe(410);
  });

  test("creates a link once even if the response is lost", async () => {
    const calls = createLossyFetch();
    const client = createClient({ baseUrl: curt.origin, fetch: calls.fetch });
    expect((await client.shorten(TARGET, { custom_code: "once" })).code).toBe("once");
    expect((await client.links.create({ target: TARGET, code: "once-more" })).code).toBe("once-more");
    const links = await Array.fromAsync(client.links.createAll([{ target: TARGET, code: "once-again" }]));
    expect(links).toMatchObject([{ code: "once-again" }]);
    expect(calls.count()).toBe(6);
    const body = await failureOf(
      client
        .shorten(TARGET, { custom_code: "twice" }, { idempotencyKey: "the-same-key-twice" })
        .then(() => client.shorten(`${TARGET}/b`, {}, { idempotencyKey: "the-same-key-twice" })),
    );
    expect([body.status, body.reason]).toEqual([422, "idempotency.reused"]);
  });

  test("reports a refusal in the caller's language, without a retry", async () => {
    let requests = 0;
    const counting = (url: string, init: RequestInit) => {
      requests++;
      return fetch(url, init);
    };
    const client = createClient({ baseUrl: curt.origin, language: "ko", fetch: counting });
    await client.shorten(TARGET, { custom_code: "taken" });
    requests = 0;
    const taken = await failureOf(client.shorten(TARGET, { custom_code: "taken" }));
    expect([taken.name, taken.status, taken.reason, taken.message]).toEqual([
      "CurtError",
      409,
      "code.taken",
      "이미 사용 중인 단축 코드입니다.",
    ]);
    expect(await failureOf(client.links.get("nothing"))).toMatchObject({
      status: 404,
      reason: "link.unknown",
    });
    expect(await failureOf(client.shorten("ftp://example.com/"))).toMatchObject({ status: 400, errors: [] });
    const refused = await failureOf(
      client.links.create({ target: "ftp://example.com/", code: "a b", expires_at: "24h" }),
    );
    expect(refused.requestId).toMatch(/^\S+$/);
    expect(refused.reason).toBe(refused.errors.map(({ reason }) => reason).join(", "));
    expect(refused.errors.map(({ field, reason }) => [field, reason])).toEqual([
      ["target", "target.scheme"],
      ["code", "code.space"],
    ]);
    expect(requests).toBe(4);
  });

  test("sends its token, and reports a response that isn't Curt's", async () => {
    const CREATE_TOKEN = "0123456789abcdef";
    await using closed = await startService({ CREATE_TOKEN });
    const baseUrl = closed.origin;
    expect((await failureOf(createClient({ baseUrl }).shorten(TARGET))).status).toBe(401);
    expect((await createClient({ baseUrl, token: CREATE_TOKEN }).shorten(TARGET)).code).not.toBeEmpty();
    using other = Bun.serve({ port: 0, fetch: () => Response.redirect("https://other.example/") });
    const strange = await failureOf(createClient({ baseUrl: other.url.href }).shorten(TARGET));
    expect([strange.status, strange.reason]).toEqual([302, ""]);
    expect(strange.message).toContain("Is the address right?");
  });
});
