import { describe, expect, test } from "bun:test";

import { ConfigError, readConfig, publicConfigOf } from "../../src/config/config.ts";

const [A, B] = ["a".repeat(16), "b".repeat(256)];

function mistakesOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).mistakes;
  }
}

describe("ADMIN_TOKEN and CREATE_TOKEN", () => {
  test.each([
    [A, [{ secret: A }]],
    [`alice:${A}`, [{ name: "alice", secret: A }]],
    [
      `alice:${A}\n\tbob@a-b.example_c:${B}`,
      [
        { name: "alice", secret: A },
        { name: "bob@a-b.example_c", secret: B },
      ],
    ],
    [`${"n".repeat(64)}:${A} ${B}`, [{ name: "n".repeat(64), secret: A }, { secret: B }]],
    [`alice:${A}:${A}`, [{ name: "alice", secret: `${A}:${A}` }]],
    // These could be secrets before there were names, so they remain so.
    [`:${A}`, [{ secret: `:${A}` }]],
    [`a%b:${A}`, [{ secret: `a%b:${A}` }]],
    ["moderator:too-short", [{ secret: "moderator:too-short" }]],
    [`${"n".repeat(65)}:${A}`, [{ secret: `${"n".repeat(65)}:${A}` }]],
  ])("read %j", (text, tokens) => {
    const configs = [readConfig({ ADMIN_TOKEN: text }), readConfig({ CREATE_TOKEN: text })];
    expect(configs).toMatchObject([
      { adminToken: tokens, hasOperators: true },
      { createToken: tokens, needsToken: true },
    ]);
    for (const config of configs) expect(JSON.stringify(publicConfigOf(config))).not.toContain(A);
  });

  test.each([
    [`alice:${A} moderator:too-short`, "(19 characters)"],
    [`${A} short alice:`, "(5, 6 characters)"],
    [`alice:${A} bob:${"x".repeat(257)}`, "(261 characters)"],
    [`alice:${A} bob:${B}\0`, "(261 characters)"],
    [`alice:${A} alice:${B}`, "a name or a secret is there twice"],
    [`alice:${A} bob:${A}`, "a name or a secret is there twice"],
    [`${A} alice:${A}`, "a name or a secret is there twice"],
  ])("refuse %j without repeating a secret", (text, why) => {
    const [mistake = "", ...more] = mistakesOf({ ADMIN_TOKEN: text });
    expect(mistake).toContain(why);
    expect(more).toEqual([]);
    for (const secret of [A, B, "too-short"]) expect(mistake).not.toContain(secret);
  });

  test("share no secret, and no header", () => {
    const wouldOperate = expect.stringContaining("everybody who may create links would be an operator");
    expect(mistakesOf({ ADMIN_TOKEN: `alice:${A}`, CREATE_TOKEN: `${B} feed:${A}` })).toEqual([wouldOperate]);
    expect(mistakesOf({ ADMIN_TOKEN: `alice:${A}`, CREATE_TOKEN: `alice:${B}` })).toEqual([]);
    const headers = { ADMIN_USER_HEADER: "Remote-User", TRUSTED_PROXIES: "::1" };
    expect(mistakesOf({ ...headers, CREATE_USER_HEADER: "remote-user" })).toEqual([wouldOperate]);
    expect(mistakesOf({ ...headers, CREATE_USER_HEADER: "Remote-Creator" })).toEqual([]);
  });

  test("are refused beside their files", () => {
    for (const name of ["ADMIN_TOKEN", "CREATE_TOKEN"])
      expect(mistakesOf({ [name]: A, [`${name}_FILE`]: "/run/secrets/tokens" })).toEqual([
        `${name} and ${name}_FILE: set only one of them`,
      ]);
  });
});

describe("ADMIN_USER_HEADER and CREATE_USER_HEADER", () => {
  test.each(["ADMIN_USER_HEADER", "CREATE_USER_HEADER"])("%s needs proxies that aren't everybody", (name) => {
    for (const [proxies, count] of [
      ["", 1],
      ["0.0.0.0/0", 1],
      ["10.0.0.1,::/0", 1],
      ["10.0.0.1", 0],
    ] as const)
      expect(mistakesOf({ [name]: "Remote-User", TRUSTED_PROXIES: proxies }), proxies).toHaveLength(count);
  });

  test("aren't headers that browsers send, or in which proxies name addresses", () => {
    const sentByMany = ["Host", "cookie", "Origin", "Accept-Language", "Sec-Fetch-Site", "X-Forwarded-For"];
    for (const wrong of sentByMany)
      expect(mistakesOf({ ADMIN_USER_HEADER: wrong, TRUSTED_PROXIES: "::1" }), wrong).toHaveLength(1);
    for (const right of [
      "X-Forwarded-User",
      "Remote-User",
      "X-Forwarded-Email",
      "X-Forwarded-Preferred-Username",
    ])
      expect(mistakesOf({ ADMIN_USER_HEADER: right, TRUSTED_PROXIES: "::1" }), right).toHaveLength(0);
  });

  test("are names of headers", () => {
    for (const wrong of ["Remote User", "Remote_User", "Remote-User:", "-User", "ユーザー", "x".repeat(65)])
      expect(mistakesOf({ ADMIN_USER_HEADER: wrong, TRUSTED_PROXIES: "::1" }), wrong).toHaveLength(1);
  });
});

test("SIGN_OUT_URL is an address of the web", () => {
  for (const wrong of [
    "auth.example",
    "javascript:alert(1)",
    "https://auth.example/\nSet-Cookie:a=b",
    "https://",
  ])
    expect(mistakesOf({ SIGN_OUT_URL: wrong }), wrong).toHaveLength(1);
  expect(readConfig({ SIGN_OUT_URL: "https://auth.example/logout?rd=/" }).signOutUrl).toBe(
    "https://auth.example/logout?rd=/",
  );
});

test("EDITORS=everybody needs CREATE_USER_HEADER", () => {
  expect(() => readConfig({ EDITORS: "everybody" })).toThrow("EDITORS=everybody needs CREATE_USER_HEADER");
  const named = { CREATE_USER_HEADER: "Remote-User", TRUSTED_PROXIES: "127.0.0.1" };
  expect(readConfig({ ...named, EDITORS: "everybody" }).editors).toBe("everybody");
  expect(readConfig(named).editors).toBe("maker");
});
