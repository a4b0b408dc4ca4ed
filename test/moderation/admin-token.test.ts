import { expect, test } from "bun:test";

import { createAdminToken, SESSION_MS } from "../../src/moderation/access-tokens.ts";

const TOKEN = "0123456789abcdef";
const NOW = Date.UTC(2026, 10, 21);

test("only the exact token is right", () => {
  const { isRight } = createAdminToken(TOKEN);
  expect(isRight(TOKEN)).toBe(true);
  for (const wrong of ["", "0", TOKEN.slice(1), TOKEN.slice(0, -1), `${TOKEN}0`, ` ${TOKEN}`, `${TOKEN}\0`])
    expect([wrong, isRight(wrong)]).toEqual([wrong, false]);
});

test("a session is open until it ends, in every process that has the token", () => {
  const session = createAdminToken(TOKEN).startSession(NOW);
  const { isOpen } = createAdminToken(TOKEN);
  expect(isOpen(session, NOW)).toBe(true);
  expect(isOpen(session, NOW + SESSION_MS - 1)).toBe(true);
  expect(isOpen(session, NOW + SESSION_MS)).toBe(false);
  // The clock was ahead at its start.
  expect(isOpen(session, NOW - 1)).toBe(false);
});

test("a changed session or one of another token isn't open", () => {
  const { startSession, isOpen } = createAdminToken(TOKEN);
  const session = startSession(NOW);
  const [ends = "", id = "", signature = ""] = session.split(".");
  const forged = [
    "",
    ".",
    ends,
    `${ends}.`,
    `${ends}.${id}.`,
    `.${id}.${signature}`,
    `${ends}.${signature}`,
    `${Number(ends) - 1}.${id}.${signature}`,
    `${Number(ends) + 1}.${id}.${signature}`,
    `${ends}.${crypto.randomUUID()}.${signature}`,
    `0${session}`,
    `${session}=`,
    ` ${session}`,
    session.slice(0, -1),
    `${ends}.${id}.${signature.toLowerCase()}`,
    `${session}.${signature}`,
    `1e13.${id}.${signature}`,
    createAdminToken(`${TOKEN}x`).startSession(NOW),
  ];
  for (const one of forged) expect([one, isOpen(one, NOW)]).toEqual([one, false]);
  expect(session).not.toContain(TOKEN);
});

test("each session has its own form token, which doesn't reveal the session", () => {
  const { startSession, formToken } = createAdminToken(TOKEN);
  const [one, other] = [startSession(NOW), startSession(NOW)];
  expect(formToken(one)).toBe(createAdminToken(TOKEN).formToken(one));
  expect(formToken(one)).not.toBe(formToken(other));
  expect(formToken(one)).not.toContain(one.split(".")[2] ?? "?");
  expect(formToken(one)).not.toBe(createAdminToken(`${TOKEN}x`).formToken(one));
});
