import { expect, test } from "bun:test";

import { sendForm } from "../http/markup.ts";
import { addressOf, scrapeUntil } from "../metrics/scrape.ts";
import { type RunningService, startProgram, startService, untilLogged } from "../support/service.ts";
import { TOKEN } from "./operator.ts";

function guess(curt: RunningService, token: string, client = "192.0.2.1"): Promise<Response> {
  const headers = { Authorization: `Bearer ${token}`, "X-Forwarded-For": client };
  return curt.fetch("/api/v1/admin/journal", { headers });
}

const signIn = (curt: RunningService, token: string) =>
  sendForm(curt, "/admin", { token }, { "X-Forwarded-For": "192.0.2.1" });

test("wrong tokens get 429 until the time in Retry-After, and neither the right token nor other clients are affected", async () => {
  const settings = { ADMIN_TOKEN: TOKEN, TRUSTED_PROXIES: "127.0.0.1" };
  await using curt = await startService(settings, { standsStill: true });
  let refused = await guess(curt, "wrong");
  for (let nth = 0; nth < 20 && refused.status === 401; nth++) refused = await guess(curt, "wrong");
  expect(refused.status).toBe(429);
  const seconds = Number(refused.headers.get("retry-after"));
  expect(seconds).toBeGreaterThan(0);
  const form = await signIn(curt, "wrong");
  expect([form.status, form.headers.get("retry-after")]).toEqual([429, String(seconds)]);
  expect(await form.text()).toContain('type="password"');
  // Neither the operator at the same address nor other clients are limited.
  expect((await guess(curt, TOKEN)).status).toBe(200);
  expect((await signIn(curt, TOKEN)).status).toBe(303);
  expect((await guess(curt, "wrong", "192.0.2.2")).status).toBe(401);
  curt.advance(seconds * 1000);
  expect((await guess(curt, "wrong")).status).toBe(401);
  expect((await guess(curt, "wrong")).status).toBe(429);
});

test("wrong tokens on the page and in the API are counted, even beyond the limit, and only their number is logged", async () => {
  await using curt = await startProgram({ ADMIN_TOKEN: TOKEN, METRICS_PORT: "0" }, { roundMs: 20 });
  expect((await guess(curt, "guessed")).status).toBe(401);
  await untilLogged(curt, "wrong operator tokens");
  for (let nth = 0; nth < 9; nth++) await guess(curt, `guessed${nth}`);
  expect((await signIn(curt, "guessed")).status).toBe(429);
  // Neither a right token nor the empty form counts.
  expect((await guess(curt, TOKEN)).status).toBe(200);
  expect((await curt.fetch("/admin")).status).toBe(401);
  const address = await addressOf(curt);
  await scrapeUntil(address, "all are counted", (now) => now.of("curt_wrong_tokens_total") === 11);
  curt.kill("SIGTERM");
  await curt.exited;
  const lines = curt.logged.filter((line) => line.includes("wrong operator tokens"));
  const times = lines.map((line) => (JSON.parse(line) as { times: number }).times);
  expect(times.reduce((sum, more) => sum + more)).toBe(11);
  expect(curt.logged.join("\n")).not.toMatch(/guessed|192\.0\.2\.1/);
});
