import { describe, expect, test } from "bun:test";

import { parseKey } from "../../src/api/creation.ts";
import { endLink, type LocalService, shareService, startService } from "../support/service.ts";

const PATHS = { shorten: "/api/v1/shorten", links: "/api/v1/links" } as const;
const BODY = { original_url: "https://example.com/again" };
const times = (count: number) => Array.from({ length: count }, (_, nth) => nth);

const curt = shareService({ TRUSTED_PROXIES: "127.0.0.1" });

async function post(path: string, body: unknown, key: Record<string, string>, on: LocalService = curt) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await on.fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...key },
    body: text,
  });
  const json = (await response.json()) as Record<string, any>;
  const headers = ["location", "link", "curt-reason", "content-type"].map((name) =>
    response.headers.get(name),
  );
  return {
    status: response.status,
    json,
    headers,
    replayed: response.headers.get("idempotent-replayed"),
  };
}

let keys = 0;
const newKey = () => ({ "Idempotency-Key": `nobody-guesses-key-${++keys}` });

test("an Idempotency-Key may contain a comma", async () => {
  const body = { original_url: "https://example.com/a" };
  const [first, retry] = [1, 2].map(() =>
    post(PATHS.shorten, body, { "Idempotency-Key": "order,1,of-november" }),
  );
  expect((await retry)?.json).toEqual((await first)?.json);
  expect((await first)?.status).toBe(201);
});

describe("a create with an Idempotency-Key", () => {
  test.each([
    [PATHS.shorten, { original_url: "https://example.com/a", expire_duration: "24h" }],
    [PATHS.shorten, { original_url: "https://example.com/a", custom_code: "한글-한번" }],
    [
      PATHS.links,
      {
        target: "https://EXAMPLE.com/ä",
        code: "once",
        starts_at: "24h",
        expires_at: "1month",
        max_visits: 7,
        password: "pass",
      },
    ],
    [`${PATHS.links}/batch`, [{ target: "https://example.com/a", expires_at: "48h" }]],
  ])("to %s gets the same response each time: %j", async (path, body) => {
    const key = newKey();
    const first = await post(path, body, key);
    expect(first.json["status"]).toBe("success");
    expect(first.replayed).toBeNull();
    const replay = { ...first, replayed: "true" };
    for (const _ of times(3)) expect(await post(path, body, key)).toEqual(replay);
    // Other spellings of the key and of the path.
    expect(await post(`${path}/`, body, { "Idempotency-Key": `"${key["Idempotency-Key"]}"` })).toEqual(
      replay,
    );
    expect(await post(path, body, newKey())).not.toEqual(first);
  });

  test("gets the same response after its link has ended", async () => {
    const key = newKey();
    const first = await post(PATHS.shorten, BODY, key);
    await endLink(curt, first.json["data"].code, Date.now());
    expect(await post(PATHS.shorten, BODY, key)).toEqual({ ...first, replayed: "true" });
  });

  test("gets 422 if the key was used with another body or path", async () => {
    const key = newKey();
    await post(PATHS.shorten, BODY, key);
    const links = { target: BODY.original_url };
    for (const [path, body] of [
      [PATHS.shorten, { original_url: "https://example.com/other" }],
      [PATHS.shorten, `${JSON.stringify(BODY)} `],
      [PATHS.links, links],
      [`${PATHS.links}/batch`, [links]],
    ] as const) {
      const { status, headers } = await post(path, body, key);
      expect([status, headers[2]]).toEqual([422, "idempotency.reused"]);
    }
  });

  test("creates another link for another client, and none for another address of the same /64", async () => {
    const key = newKey();
    const from = (address: string) => post(PATHS.shorten, BODY, { ...key, "X-Forwarded-For": address });
    const [one, other] = [await from("192.0.2.1"), await from("192.0.2.2")];
    expect(other.json["data"].code).not.toBe(one.json["data"].code);
    expect(await from("192.0.2.1")).toEqual({ ...one, replayed: "true" });
    // A network of 64 bits is one client.
    const first = await from("2001:db8::1");
    expect(await from("2001:db8::2")).toEqual({ ...first, replayed: "true" });
  });

  test("is evaluated again after a refusal", async () => {
    const key = newKey();
    const taken = { ...BODY, custom_code: "later-free" };
    await post(PATHS.shorten, taken, {});
    for (const _ of times(2)) expect((await post(PATHS.shorten, taken, key)).status).toBe(409);
    const target = BODY.original_url;
    const batch = [{ target, code: taken.custom_code }, { target }, { target: "ftp://x" }, 5];
    const { json } = await post(`${PATHS.links}/batch`, batch, newKey());
    expect(json["data"].results.map(({ status_code }: any) => status_code)).toEqual([409, 201, 400, 400]);
  });

  test("replays the created items of a batch and evaluates the others again", async () => {
    await using own = await startService({ CODE_HOLD: "0s" });
    await post(PATHS.shorten, { ...BODY, custom_code: "ending", expire_duration: "24h" }, {}, own);
    own.advance(80_000_000);
    const key = newKey();
    const bodies = [undefined, "ending", undefined].map((code) => ({ target: BODY.original_url, code }));
    const results = async (): Promise<any[]> =>
      (await post(`${PATHS.links}/batch`, bodies, key, own)).json["data"].results;
    const first = await results();
    expect(first.map(({ status_code }) => status_code)).toEqual([201, 409, 201]);
    expect(await results()).toEqual(first);
    own.advance(10_000_000);
    const last = await results();
    expect(last.map(({ status_code }) => status_code)).toEqual([201, 201, 201]);
    expect([last[0], last[2]]).toEqual([first[0], first[2]]);
  });

  test("counts once, and is replayed even if the limit is used up", async () => {
    await using own = await startService({ LIMIT_CREATE: "2/1d" });
    const send = (key: Record<string, string>, body: unknown = BODY) => post(PATHS.shorten, body, key, own);
    const [one, other] = [newKey(), newKey()];
    expect((await send(other, { original_url: "ftp://x" })).status).toBe(400);
    const first = await send(one);
    const replay = { ...first, replayed: "true" };
    for (const _ of times(3)) expect(await send(one)).toEqual(replay);
    expect((await send(other)).status).toBe(201);
    const refusal = await send(newKey());
    expect([refusal.status, refusal.headers[2]]).toEqual([429, "limit.create"]);
    expect(await send(one)).toEqual(replay);
    // The key is already known, so the limit doesn't matter.
    expect((await send(one, { original_url: "https://example.com/b" })).status).toBe(422);
  });
});

test("replays count as views", async () => {
  await using own = await startService({ LIMIT_VIEW: "3/1d" });
  const key = newKey();
  for (const _ of times(4)) expect((await post(PATHS.shorten, BODY, key, own)).status).toBe(201);
  const refusal = await post(PATHS.shorten, BODY, key, own);
  expect([refusal.status, refusal.headers[2]]).toEqual([429, "limit.view"]);
});

test("concurrent creates with one Idempotency-Key count once and get the same response", async () => {
  await using own = await startService({ LIMIT_CREATE: "20/1d" });
  const key = newKey();
  const responses = await Promise.all(times(12).map(() => post(PATHS.shorten, BODY, key, own)));
  for (const { json } of responses) expect(json).toEqual(responses[0]?.json as never);
  for (const _ of times(19)) expect((await post(PATHS.shorten, BODY, newKey(), own)).status).toBe(201);
  expect((await post(PATHS.shorten, BODY, newKey(), own)).status).toBe(429);
});

test.each([
  ["one link with a password", PATHS.links, { target: BODY.original_url, password: "open sesame" }, 1],
  [
    "a batch",
    `${PATHS.links}/batch`,
    times(3).map(() => ({ target: BODY.original_url, password: "open sesame" })),
    3,
  ],
])("a retry beside its running first attempt gets its response: %s", async (_name, path, body, count) => {
  // A second run would exceed the limit.
  await using own = await startService({ LIMIT_CREATE: `${count}/1d` });
  const key = newKey();
  const [first, retry] = await Promise.all([post(path, body, key, own), post(path, body, key, own)]);
  expect(first.json["status"]).toBe("success");
  expect([first.replayed, retry.replayed]).toEqual([null, "true"]);
  expect(retry).toEqual({ ...first, replayed: "true" });
});

describe("an Idempotency-Key of fewer than 16 characters", () => {
  test("gets 400 without a token", async () => {
    const short = "x".repeat(15);
    for (const key of [short, `"${short}"`])
      for (const path of [...Object.values(PATHS), `${PATHS.links}/batch`]) {
        const { status, headers } = await post(path, BODY, { "Idempotency-Key": key });
        expect([status, headers[2]]).toEqual([400, "idempotency.format"]);
      }
    expect((await post(PATHS.shorten, BODY, { "Idempotency-Key": `${short}x` })).status).toBe(201);
  });

  test("is taken with a token, of a name or alone", async () => {
    await using own = await startService({ CREATE_TOKEN: `${"t".repeat(32)} mina:${"m".repeat(32)}` });
    for (const token of ["t", "m"]) {
      const headers = { "Idempotency-Key": "1", Authorization: `Bearer ${token.repeat(32)}` };
      expect((await post(PATHS.shorten, BODY, headers, own)).status).toBe(201);
      expect((await post(PATHS.shorten, BODY, headers, own)).replayed).toBe("true");
    }
  });
});

test.each<[string, string | undefined]>([
  ["abc", "abc"],
  ['"abc"', "abc"],
  ["8e03978e-40d5-43dd-bc93-6894a57f9324", "8e03978e-40d5-43dd-bc93-6894a57f9324"],
  ['"a \\"b\\" \\\\ c"', 'a "b" \\ c'],
  ['"a, b"', "a, b"],
  ["a\\b", "a\\b"],
  ["x".repeat(255), "x".repeat(255)],
  [`"${"x".repeat(255)}"`, "x".repeat(255)],
  ["x".repeat(256), undefined],
  ["", undefined],
  ['""', undefined],
  ['"', undefined],
  ['"abc', undefined],
  ['a"b', undefined],
  ['"a"b"', undefined],
  ['"a\\b"', undefined],
  ["a, b", undefined],
  ['"a", "b"', undefined],
  ["clé", undefined],
  ['"ключ"', undefined],
  ["a\tb", undefined],
])("the header Idempotency-Key: %s contains the key %p", async (written, key) => {
  expect(parseKey(written)).toEqual(key ?? { kind: "idempotency.format" });
});

test("a malformed Idempotency-Key gets 400 from every create", async () => {
  for (const path of [...Object.values(PATHS), `${PATHS.links}/batch`]) {
    const { status, headers } = await post(path, BODY, { "Idempotency-Key": '"a", "b"' });
    expect([status, headers[2]]).toEqual([400, "idempotency.format"]);
  }
});
