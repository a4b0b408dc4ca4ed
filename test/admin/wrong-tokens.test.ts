import { expect, test } from "bun:test";

import { HTML } from "../http/markup.ts";
import { type Here, startHere } from "../service.ts";
import { askAs, TOKEN } from "./operator.ts";

const GUESSES = 2000;
const AT_ONCE = 50;

function guess(curt: Here, token: string, client = "192.0.2.1"): Promise<Response> {
  const headers = { Authorization: `Bearer ${token}`, "X-Forwarded-For": client };
  return curt.fetch("/api/v1/admin/journal", { headers });
}

function signIn(curt: Here, token: string, client = "192.0.2.1"): Promise<Response> {
  return curt.fetch("/admin", {
    method: "POST",
    headers: { ...HTML, "X-Forwarded-For": client },
    body: new URLSearchParams({ token }),
  });
}

test("two thousand wrong tokens let nobody in and keep nobody out", async () => {
  await using curt = await startHere({ ADMIN_TOKEN: TOKEN, TRUSTED_PROXIES: "127.0.0.1" });
  const statuses = new Map<number, number>();
  for (let first = 0; first < GUESSES; first += AT_ONCE) {
    const guesses = Array.from({ length: AT_ONCE }, (_, nth) =>
      nth === 0 ? signIn(curt, `guess-${first}`) : guess(curt, `${TOKEN.slice(0, -6)}${first + nth}`),
    );
    // The operator, from the same address and in the midst of them.
    guesses.push(guess(curt, TOKEN));
    const answers = await Promise.all(guesses);
    expect(answers.pop()?.status).toBe(200);
    for (const { status, headers } of answers) {
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      expect(headers.get("set-cookie")).toBeNull();
    }
  }
  expect(new Set(statuses.keys())).toEqual(new Set([401, 429]));
  // Ten a minute, and the test may take a while.
  expect(statuses.get(401)).toBeLessThan(100);
  const signedIn = await signIn(curt, TOKEN);
  expect([signedIn.status, signedIn.headers.get("location")]).toEqual([303, "/admin"]);
  expect((await guess(curt, "a guess", "192.0.2.2")).status).toBe(401);
  expect((await askAs(curt)("GET", "journal")).data.entries).toEqual([]);
});

test("who guessed too often is told when to guess again, and that is when they may", async () => {
  const settings = { ADMIN_TOKEN: TOKEN, TRUSTED_PROXIES: "127.0.0.1" };
  await using curt = await startHere(settings, { standsStill: true });
  let refused = await guess(curt, "wrong");
  for (let nth = 0; nth < 20 && refused.status === 401; nth++) refused = await guess(curt, "wrong");
  expect(refused.status).toBe(429);
  const seconds = Number(refused.headers.get("retry-after"));
  expect(seconds).toBeGreaterThan(0);
  const form = await signIn(curt, "wrong");
  expect([form.status, form.headers.get("retry-after")]).toEqual([429, String(seconds)]);
  expect(await form.text()).toContain('type="password"');
  curt.advance(seconds * 1000);
  expect((await guess(curt, "wrong")).status).toBe(401);
  expect((await guess(curt, "wrong")).status).toBe(429);
});
