import { expect, test } from "bun:test";
import { join } from "node:path";

import { createAccessTokens, readAllTokens, SESSION_MS } from "../../src/moderation/access-tokens.ts";
import { temporaryFolder } from "../support/service.ts";

const SECRET = "0123456789abcdef";
const NOW = Date.UTC(2026, 10, 21);
const BARE = { secret: SECRET };
const ALICE = { name: "alice", secret: "alice-has-a-secret" };
const BOB = { name: "bob", secret: "bob-has-another-one" };

test("only the exact token is found", () => {
  const { find } = createAccessTokens([BARE]);
  expect(find(SECRET)).toBe(BARE);
  for (const wrong of [
    "",
    "0",
    SECRET.slice(1),
    SECRET.slice(0, -1),
    `${SECRET}0`,
    ` ${SECRET}`,
    `${SECRET}\0`,
  ])
    expect([wrong, find(wrong)]).toEqual([wrong, undefined]);
});

test("each of several tokens is found by its secret, alone or after its name and a colon", () => {
  const { find } = createAccessTokens([ALICE, BARE, BOB]);
  for (const token of [ALICE, BOB]) {
    expect(find(token.secret)).toBe(token);
    expect(find(`${token.name}:${token.secret}`)).toBe(token);
  }
  for (const wrong of ["alice", "alice:", `bob:${ALICE.secret}`, `:${BOB.secret}`, `alice:${SECRET}`])
    expect([wrong, find(wrong)]).toEqual([wrong, undefined]);
});

test("no token is found in an empty list", () => {
  expect(createAccessTokens([]).find("")).toBeUndefined();
});

test("a session belongs to its token until it ends, in every process that has the token", () => {
  const session = createAccessTokens([BARE]).startSession(BARE, NOW);
  const { findBySession } = createAccessTokens([ALICE, BARE]);
  expect(findBySession(session, NOW)).toBe(BARE);
  expect(findBySession(session, NOW + SESSION_MS - 1)).toBe(BARE);
  expect(findBySession(session, NOW + SESSION_MS)).toBeUndefined();
  // Another machine's clock is a little behind.
  expect(findBySession(session, NOW - 60_000)).toBe(BARE);
  // The clock was far ahead at its start.
  expect(findBySession(session, NOW - 60_001)).toBeUndefined();
});

test("a token that is gone lets nobody in, and its sessions end, but no others", () => {
  const tokens = createAccessTokens([ALICE, BOB]);
  const [ofAlice, ofBob] = [ALICE, BOB].map((token) => tokens.startSession(token, NOW));
  const changed = { ...BOB, name: "robert" };
  tokens.replace([changed]);
  expect(tokens.find(ALICE.secret)).toBeUndefined();
  expect(tokens.findBySession(ofAlice ?? "", NOW)).toBeUndefined();
  expect(tokens.find(BOB.secret)).toBe(changed);
  expect(tokens.findBySession(ofBob ?? "", NOW)).toBe(changed);
});

test("a changed session or one of another token belongs to no token", () => {
  const { startSession, findBySession } = createAccessTokens([BARE]);
  const session = startSession(BARE, NOW);
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
    startSession(ALICE, NOW),
  ];
  for (const one of forged) expect([one, findBySession(one, NOW)]).toEqual([one, undefined]);
  expect(session).not.toContain(SECRET);
});

test("each session has its own form token, which doesn't reveal the session", () => {
  const { startSession, formToken } = createAccessTokens([BARE]);
  const [one, other] = [startSession(BARE, NOW), startSession(BARE, NOW)];
  expect(formToken(BARE, one)).toBe(createAccessTokens([]).formToken(BARE, one));
  expect(formToken(BARE, one)).not.toBe(formToken(BARE, other));
  expect(formToken(BARE, one)).not.toContain(one.split(".")[2] ?? "?");
  expect(formToken(BARE, one)).not.toBe(formToken(ALICE, one));
});

test("the tokens of a named pipe aren't read, which would block until somebody writes into it", async () => {
  using folder = temporaryFolder();
  const pipe = join(folder.path, "pipe");
  expect(Bun.spawnSync(["mkfifo", pipe]).exitCode).toBe(0);
  // Otherwise a failure would block this test.
  await using _ = Bun.spawn(["sh", "-c", `sleep 1; printf %s ${SECRET} > "$0"`, pipe]);
  const files = { adminToken: null, adminTokenFile: pipe, createToken: null, createTokenFile: null };
  expect(() => readAllTokens(files)).toThrow("ADMIN_TOKEN_FILE cannot be read: it is not a file");
});
