import { expect, test } from "bun:test";

import { createSeal, createSecret } from "../../src/links/secret.ts";
import { newLink } from "../stores/links.ts";

const secret = createSecret(new Uint8Array(32).fill(7));

test("a manage key is valid only for its own link on its own instance", () => {
  const link = newLink("mine");
  const key = secret.manageKey(link);
  expect(key).toMatch(/^[\w-]{22}$/);
  expect(secret.isManageKey(key, link)).toBe(true);
  for (const input of ["", key.slice(1), `${key}A`, `${key}=`, ` ${key}`, key.toLowerCase(), "한".repeat(22)])
    expect(secret.isManageKey(input, link)).toBe(false);
  expect(secret.isManageKey(key, newLink("other"))).toBe(false);
  expect(secret.isManageKey(key, newLink("mine", { createdMs: link.createdMs + 1 }))).toBe(false);
  expect(createSecret(new Uint8Array(32).fill(8)).isManageKey(key, link)).toBe(false);
});

test("a manage key has only one valid spelling", () => {
  const link = newLink("mine");
  const key = secret.manageKey(link);
  const last = key.at(-1) ?? "";
  // The last character has four bits that mean nothing.
  for (const other of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    if (other !== last) expect(secret.isManageKey(key.slice(0, -1) + other, link)).toBe(false);
});

test("hashes differ by purpose and by parts", () => {
  const hashes = [
    secret.hash("request", ["a", "b"]),
    secret.hash("body", ["a", "b"]),
    secret.hash("request", ["ab", ""]),
    secret.hash("request", ["a,b"]),
  ];
  expect(new Set(hashes).size).toBe(hashes.length);
});

test("a sealed text opens only whole, on its own instance", () => {
  const { seal, open } = createSeal(secret);
  for (const text of ["", "u1.2.카페"]) expect(open(seal(text))).toBe(text);
  const sealed = seal("u1.2.secret");
  expect(atob(sealed.replaceAll("-", "+").replaceAll("_", "/"))).not.toContain("secret");
  for (const input of ["", "x", "u1.2.secret", sealed.slice(4), `A${sealed.slice(1)}`, `${sealed}AAAA`])
    expect(open(input)).toBeUndefined();
  expect(createSeal(createSecret(new Uint8Array(32).fill(8))).open(sealed)).toBeUndefined();
});
