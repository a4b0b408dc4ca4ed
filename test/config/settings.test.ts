import { expect, test } from "bun:test";

import { type RunningService, type Settings, startService } from "../support/service.ts";

async function shorten(curt: RunningService, original_url: string) {
  const response = await curt.shorten({ original_url });
  const body = (await response.json()) as {
    message: string;
    data?: { code: string; expiration_date: string };
  };
  return { status: response.status, message: body.message, data: body.data };
}

async function refusals(settings: Settings, targets: readonly string[]): Promise<string[]> {
  await using curt = await startService(settings);
  return await Promise.all(targets.map(async (target) => (await shorten(curt, target)).message));
}

test("links to BASE_URL, ALIASES and DOMAINS are refused as loops", async () => {
  const targets = [
    "https://curt.example/x",
    "http://CURT.example.:8080/",
    "https://go.curt.example/x",
    "https://xn--0p4b.xn--3e0b707e/",
    "http://한글.example./x",
  ];
  const settings = { ALIASES: "go.curt.example, 숏.한국", DOMAINS: "https://한글.example" };
  const messages = await refusals(settings, targets);
  expect(new Set(messages)).toEqual(new Set(["original_url: It is an address of this service."]));
});

test("links to loopback hosts are refused only with the ports of PORT and BASE_URL", async () => {
  const free = Bun.serve({ port: 0, fetch: () => new Response() });
  const port = String(free.port);
  await free.stop(true);
  const settings = { PORT: port, BASE_URL: "http://localhost:8080" };
  const targets = [`http://127.0.0.1:${port}/x`, "http://localhost:8080/x", "http://localhost:9999/x"];
  const [listening, announced, other] = await refusals(settings, targets);
  expect([listening, announced]).toEqual(Array(2).fill("original_url: It is an address of this service."));
  expect(other).toBe("URL shortened successfully.");
});

test("private posture allows private destinations, and public posture refuses them", async () => {
  const targets = ["http://10.0.0.1/", "http://[::1]:9/", "http://printer.local/"];
  const refusal = "original_url: It is in a private network, which visitors cannot reach.";
  const shortened = "URL shortened successfully.";
  expect(await refusals({}, targets)).toEqual(targets.map(() => refusal));
  expect(await refusals({ POSTURE: "private" }, targets)).toEqual(targets.map(() => shortened));
  expect(await refusals({ BASE_URL: "http://curt.local" }, targets)).toEqual(targets.map(() => shortened));
});

test("links without an expiry and a code get DEFAULT_EXPIRY and CODE_LENGTH", async () => {
  await using curt = await startService({ DEFAULT_EXPIRY: "48h", CODE_LENGTH: "12" });
  const before = Date.now();
  const { data } = await shorten(curt, "https://example.com/");
  expect(data?.code).toHaveLength(12);
  const lifeMs = Date.parse(data?.expiration_date ?? "") - before;
  expect(lifeMs).toBeGreaterThanOrEqual(48 * 3_600_000);
  expect(lifeMs).toBeLessThan(48 * 3_600_000 + 60_000);
});
