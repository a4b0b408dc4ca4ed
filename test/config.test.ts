import { describe, expect, test } from "bun:test";

import { type Config, ConfigError, readConfig } from "../src/config.ts";

function mistakesOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).mistakes;
  }
}

describe("the configuration", () => {
  test("has a default for everything", () => {
    expect(readConfig({})).toEqual({
      host: "127.0.0.1",
      port: 3000,
      baseUrl: "http://localhost:3000",
      aliases: [],
      posture: "private",
      database: { engine: "sqlite", path: "./data/curt.db" },
      defaultExpiry: "never",
      codeLength: 7,
      codeHoldMs: 30 * 86_400_000,
      processes: 1,
      cacheSeconds: 0,
      drainWaitMs: 0,
      logLevel: "info",
    });
    expect(readConfig({ PORT: "8080", BASE_URL: "", LOG_LEVEL: " " })).toMatchObject({
      baseUrl: "http://localhost:8080",
      logLevel: "info",
    });
  });

  test("takes every setting", () => {
    const cases: [Record<string, string>, Partial<Config>][] = [
      [{ BASE_URL: "https://Go.Example.com:443/" }, { baseUrl: "https://go.example.com", posture: "public" }],
      [{ BASE_URL: "https://숏.한국" }, { baseUrl: "https://숏.한국" }],
      [{ BASE_URL: "HTTPS://숏.한국:443/" }, { baseUrl: "https://숏.한국" }],
      [{ BASE_URL: "http://숏.한국:8080" }, { baseUrl: "http://숏.한국:8080" }],
      [{ BASE_URL: "http://192.168.1.5:3000" }, { posture: "private" }],
      [{ BASE_URL: "http://curt" }, { posture: "private" }],
      [{ BASE_URL: "http://curt.example", POSTURE: "private" }, { posture: "private" }],
      [{ POSTURE: "public" }, { posture: "public" }],
      [
        { ALIASES: "A.example, 숏.한국 ,b.example:8443" },
        { aliases: ["a.example", "xn--0p4b.xn--3e0b707e", "b.example"] },
      ],
      [
        { DATABASE_URL: "sqlite:/var/lib/curt.db" },
        { database: { engine: "sqlite", path: "/var/lib/curt.db" } },
      ],
      [
        { DATABASE_URL: "sqlite:///var/lib/curt.db" },
        { database: { engine: "sqlite", path: "/var/lib/curt.db" } },
      ],
      [{ DEFAULT_EXPIRY: "1month" }, { defaultExpiry: "1month" }],
      [{ CODE_LENGTH: "4" }, { codeLength: 4 }],
      [{ CODE_HOLD: "12h" }, { codeHoldMs: 43_200_000 }],
      [{ CODE_HOLD: "0s" }, { codeHoldMs: 0 }],
      [{ PROCESSES: "64" }, { processes: 64 }],
      [{ CACHE_SECONDS: "300" }, { cacheSeconds: 300 }],
      [{ DRAIN_WAIT: "5s" }, { drainWaitMs: 5000 }],
      [
        { HOST: "::", PORT: "80" },
        { host: "::", port: 80 },
      ],
      [{ PORT: "0", BASE_URL: "http://localhost:1" }, { port: 0 }],
    ];
    for (const [env, expected] of cases)
      expect({ env, config: readConfig(env) }).toMatchObject({ env, config: expected });
  });

  test("names every mistake at once, with the value and what would be right", () => {
    expect(
      mistakesOf({ PORT: "http", BASE_URL: "ftp://x", POSTURE: "open", CODE_LENGTH: "3", LOG_LEVEL: "loud" }),
    ).toEqual([
      'PORT must be a whole number from 0 to 65535, not "http"',
      'BASE_URL must be an http:// or https:// origin without path, query, fragment or credentials, such as https://go.example.com, not "ftp://x"',
      'POSTURE must be auto, public or private, not "open"',
      'CODE_LENGTH must be a whole number from 4 to 32, not "3"',
      'LOG_LEVEL must be debug, info, warn, error, not "loud"',
    ]);
  });

  test("refuses each wrong value", () => {
    const wrong: [string, string[]][] = [
      ["PORT", ["-1", "65536", "80.5", "0x50", "1e3"]],
      [
        "BASE_URL",
        [
          "example.com",
          "https://a.example/path",
          "https://a.example/?q",
          "https://a.example#f",
          "https://u:p@a.example",
          "https://u@a.example",
          "https://",
          "https:// a.example",
          "https://a.example//",
          "javascript:x",
        ],
      ],
      ["ALIASES", ["https://a.example", "a.example/x", "a b", "a@b"]],
      [
        "DATABASE_URL",
        [
          "postgres://localhost/curt",
          "mysql://x",
          "./data/curt.db",
          "sqlite:",
          "sqlite::memory:",
          "sqlite:a?mode=ro",
        ],
      ],
      ["DEFAULT_EXPIRY", ["1year", "NEVER", "0"]],
      ["CODE_LENGTH", ["33", "seven"]],
      ["CODE_HOLD", ["30", "-1d", "1w", "99999d", "1.5d"]],
      ["PROCESSES", ["0", "65", "-1", "1.5", "all"]],
      ["CACHE_SECONDS", ["-1", "86401", "60s"]],
      ["DRAIN_WAIT", ["5", "6m", "1d"]],
      ["HOST", ["a b", "http://x", "[::1]"]],
    ];
    for (const [name, values] of wrong) {
      for (const value of values)
        expect([name, value, mistakesOf({ [name]: value })]).toEqual([
          name,
          value,
          [expect.stringContaining(`${name} must be`)],
        ]);
    }
    expect(mistakesOf({ PORT: "0", BASE_URL: " " })).toHaveLength(1);
    expect(mistakesOf({ PORT: "0" })).toEqual([
      "BASE_URL must be set when PORT is 0: the port is not known yet",
    ]);
  });
});
