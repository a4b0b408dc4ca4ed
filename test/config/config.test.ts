import { describe, expect, test } from "bun:test";

import { type Config, ConfigError, readConfig, publicConfigOf } from "../../src/config/config.ts";
import { describePlace, describeStore } from "../../src/config/database-url.ts";
import { EventType } from "../../src/config/event-settings.ts";
import { SETTINGS } from "../../src/config/settings.ts";
import type { Settings } from "../support/service.ts";

function mistakesOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).mistakes;
  }
}

/** The shortest secret: 24 bytes. */
const WEBHOOK_SECRET = `whsec_${"A".repeat(32)}`;

describe("the configuration", () => {
  test("has defaults that depend on other settings", () => {
    expect(readConfig({})).toMatchObject({
      baseUrl: "http://localhost:3000",
      posture: "private",
      statsShown: "all",
      listFolder: "data/blocklists",
      database: { engine: "sqlite", path: "data/curt.db" },
      readDatabase: null,
      journalFolder: "data/curt.db-visits",
      edits: "on",
      limitCreate: [],
      limitUnknown: [],
      limitView: [],
      limitPasswords: [{ count: 10, ms: 3_600_000 }],
      limitReport: [{ count: 10, ms: 3_600_000 }],
    });
    expect(readConfig({ PORT: "8080", BASE_URL: "", LOG_LEVEL: " " })).toMatchObject({
      baseUrl: "http://localhost:8080",
      logLevel: "info",
    });
  });

  test.each<[place: string, settings: Settings]>([
    [`${process.cwd()}/data`, {}],
    ["/srv/curt", { DATA_DIR: "/srv/curt/" }],
    ["/srv/curt", { DATABASE_URL: "sqlite:/srv/curt/links.db" }],
    ["/srv/links.db and /srv/curt", { DATABASE_URL: "sqlite:/srv/links.db", DATA_DIR: "/srv/curt" }],
    [
      `postgres://curt@db:5432/links and ${process.cwd()}/data`,
      { DATABASE_URL: "postgres://curt:the-password@db/links" },
    ],
  ])("describes the place of the data as %s with %j", (place, settings) => {
    expect(describePlace(readConfig(settings))).toBe(place);
  });

  test("accepts every setting", () => {
    const cases: [name: string, value: string, expected: Partial<Config>, others?: Settings][] = [
      ["BASE_URL", "https://Go.Example.com:443/", { baseUrl: "https://go.example.com" }],
      ["BASE_URL", "https://go.example.com", { posture: "public", statsShown: "safe", edits: "24h" }],
      ["BASE_URL", "https://숏.한국", { baseUrl: "https://숏.한국" }],
      ["BASE_URL", "HTTPS://숏.한국:443/", { baseUrl: "https://숏.한국" }],
      ["BASE_URL", "http://숏.한국:8080", { baseUrl: "http://숏.한국:8080" }],
      ["BASE_URL", "http://192.168.1.5:3000", { posture: "private" }],
      ["BASE_URL", "http://curt", { posture: "private" }],
      ["BASE_URL", "http://curt.example", { posture: "private" }, { POSTURE: "private" }],
      ["POSTURE", "public", { posture: "public", statsShown: "safe" }],
      ["POSTURE", "public", { statsShown: "all" }, { STATS_SHOWN: "all" }],
      [
        "DATABASE_URL",
        "postgres://curt@db/a%2Fb",
        { databasePool: 3, journalFolder: "data/a%2Fb-visits", listFolder: "data/blocklists" },
        { DATABASE_POOL: "3" },
      ],
      [
        "DATABASE_URL",
        "postgres://curt@db/links",
        { journalFolder: "/var/lib/curt/links-visits" },
        { DATA_DIR: "/var/lib/curt" },
      ],
      [
        "DATA_DIR",
        "/srv/curt",
        {
          database: { engine: "sqlite", path: "/srv/curt/curt.db" },
          journalFolder: "/srv/curt/curt.db-visits",
          listFolder: "/srv/curt/blocklists",
        },
      ],
      [
        "DATA_DIR",
        "./data",
        { journalFolder: "data/links.db-visits" },
        { DATABASE_URL: "sqlite:/srv/links.db" },
      ],
      ["BLOCKLIST", "a.txt, /lists/b", { blocklist: ["a.txt", "/lists/b"] }],
      [
        "BLOCKLIST",
        "https://lists.example/a?b, a.txt,HTTPS://lists.example",
        { blocklist: ["a.txt"], blocklistFeeds: ["https://lists.example/a?b", "https://lists.example/"] },
      ],
      ["STATS_SHOWN", "count", { statsShown: "count" }],
      [
        "ALIASES",
        "A.example, 숏.한국 ,b.example:8443",
        { aliases: ["a.example", "xn--0p4b.xn--3e0b707e", "b.example"] },
      ],
      [
        "DOMAINS",
        "HTTPS://Go.example/, http://한글.example:8080",
        { domains: ["https://go.example", "http://한글.example:8080"] },
      ],
      [
        "DATABASE_URL",
        "sqlite:/var/lib/curt.db",
        { database: { engine: "sqlite", path: "/var/lib/curt.db" } },
      ],
      [
        "DATABASE_URL",
        "sqlite:///var/lib/curt.db",
        { database: { engine: "sqlite", path: "/var/lib/curt.db" } },
      ],
      [
        "DATABASE_URL",
        "sqlite:/srv/links.db",
        { journalFolder: "/srv/links.db-visits", listFolder: "/srv/blocklists" },
      ],
      [
        "DATABASE_URL",
        "sqlite:/srv/links.db",
        { journalFolder: "/var/lib/curt/links.db-visits" },
        { DATA_DIR: "/var/lib/curt" },
      ],
      ["DEFAULT_EXPIRY", "1month", { defaultExpiry: "1month" }],
      ["CODE_LENGTH", "4", { codeLength: 4 }],
      ["CODE_CASE", "match", { codeLength: 7 }],
      ["CODE_CASE", "ignore", { codeCase: "ignore", codeLength: 8 }],
      ["METRICS_PORT", "9464", { metrics: { host: "127.0.0.1", port: 9464 } }],
      ["METRICS_PORT", "localhost:0", { metrics: { host: "localhost", port: 0 } }],
      ["METRICS_PORT", "[::1]:9464", { metrics: { host: "::1", port: 9464 } }],
      ["CODE_HOLD", "12h", { codeHoldMs: 43_200_000 }],
      ["CODE_HOLD", "0s", { codeHoldMs: 0 }],
      ["CODE_HOLD", "36500d", { codeHoldMs: 36_500 * 86_400_000 }],
      [
        "POSTURE",
        "public",
        {
          limitCreate: [
            { count: 30, ms: 60_000 },
            { count: 1000, ms: 86_400_000 },
          ],
          limitUnknown: [{ count: 60, ms: 60_000 }],
          limitView: [{ count: 120, ms: 60_000 }],
          limitReport: [{ count: 10, ms: 3_600_000 }],
        },
      ],
      [
        "POSTURE",
        "public",
        {
          limitCreate: [],
          limitView: [
            { count: 1_000_000, ms: 31 * 86_400_000 },
            { count: 1, ms: 1000 },
          ],
          limitReport: [],
        },
        { LIMIT_CREATE: "off", LIMIT_VIEW: "1000000/31d, 1/1s", LIMIT_REPORT: "off" },
      ],
      [
        "LIMIT_VIEW",
        "1/1s,2/2s,3/3s,4/4s",
        { limitView: [1, 2, 3, 4].map((count) => ({ count, ms: count * 1000 })) },
      ],
      ["CREATE_TOKEN", "0123456789abcde=", { createToken: [{ secret: "0123456789abcde=" }] }],
      ["CURT_SECRET", "x".repeat(32), { secret: "x".repeat(32) }],
      ["EDITS", "off", { edits: "off" }],
      ["BASE_URL", "https://go.example.com", { edits: "on" }, { EDITS: "on" }],
      ["PROCESSES", "64", { processes: 64 }],
      ["CACHE_SECONDS", "300", { cacheSeconds: 300 }],
      ["INTERSTITIAL", "all", { interstitial: "all" }],
      ["DRAIN_WAIT", "5s", { drainWaitMs: 5000 }],
      ["HOST", "::", { host: "::", port: 80 }, { PORT: "80" }],
      ["PORT", "0", { port: 0 }, { BASE_URL: "http://localhost:1" }],
      [
        "EVENTS_URL",
        "https://a.example/hook?b",
        { eventsUrl: "https://a.example/hook?b", eventsSecrets: ["A".repeat(32), "A".repeat(32)] },
        { EVENTS_SECRET: `${WEBHOOK_SECRET}, ${WEBHOOK_SECRET}` },
      ],
      [
        "EVENTS_URL",
        "http://[::1]:1",
        { eventsTypes: [EventType.reportOpened, EventType.linkDisabled] },
        { EVENTS_FORMAT: "text" },
      ],
      [
        "EVENTS_TYPES",
        "link.expired, link.created",
        { eventsTypes: [EventType.linkExpired, EventType.linkCreated] },
      ],
    ];
    for (const [name, value, expected, others] of cases)
      expect(readConfig({ ...others, [name]: value }), `${name}=${value}`).toMatchObject(expected);
  });

  test("refuses events without a secret, except for chat rooms", () => {
    const EVENTS_URL = "https://a.example/hook";
    expect(mistakesOf({ EVENTS_URL })).toEqual([
      "EVENTS_SECRET must be set when EVENTS_URL is: it signs the events",
    ]);
    expect(mistakesOf({ EVENTS_URL, EVENTS_FORMAT: "text" })).toEqual([]);
  });

  test("refuses shared caches together with the interstitial", () => {
    expect(mistakesOf({ INTERSTITIAL: "all", CACHE_SECONDS: "60" })).toEqual([
      "CACHE_SECONDS must be 0 when INTERSTITIAL is on: a shared cache would serve people the redirect for bots",
    ]);
    expect(mistakesOf({ INTERSTITIAL: "yes", CACHE_SECONDS: "60" })).toEqual([
      'INTERSTITIAL must be off or all, not "yes"',
    ]);
  });

  test("accepts every default as an explicit value", () => {
    const written = Object.values(SETTINGS).map((setting) => [setting.name, setting.default]);
    expect(readConfig(Object.fromEntries(written) as Record<string, string>)).toEqual(readConfig({}));
  });

  test("reports all mistakes together, with their values and the accepted ones", () => {
    expect(
      mistakesOf({ PORT: "http", BASE_URL: "ftp://x", POSTURE: "open", CODE_LENGTH: "3", LOG_LEVEL: "loud" }),
    ).toEqual([
      'PORT must be auto, a whole number from 0 to 65535, not "http"',
      'BASE_URL must be an http:// or https:// origin without path, query, fragment or credentials, such as https://go.example.com, not "ftp://x"',
      'POSTURE must be auto, public or private, not "open"',
      'CODE_LENGTH must be auto, a whole number from 4 to 32, not "3"',
      'LOG_LEVEL must be debug, info, warn or error, not "loud"',
    ]);
  });

  test("accepts proxies as addresses and networks, and reports each wrong one", () => {
    const { trustedProxies } = readConfig({
      TRUSTED_PROXIES: " 10.0.0.0/8, 192.0.2.1,,2001:DB8::/32,::ffff:198.51.100.0/120,0.0.0.0/0,::1 ",
    });
    expect(trustedProxies.map(({ address, prefix }) => `${address.toString()}/${prefix}`)).toEqual([
      "10.0.0.0/8",
      "192.0.2.1/32",
      "2001:db8::/32",
      "198.51.100.0/24",
      "0.0.0.0/0",
      "::1/128",
    ]);
    const wrong = "proxy.example 10.0.0.0/33 10.0.0/8 010.0.0.1 ::1/129 fe80::1%eth0 1.2.3.4/".split(" ");
    const named = mistakesOf({ TRUSTED_PROXIES: ["10.0.0.1", ...wrong].join() });
    expect(named).toEqual(
      wrong.map((entry) => expect.stringMatching(new RegExp(`^TRUSTED_PROXIES must be .*, not "${entry}"$`))),
    );
  });

  test("accepts one password of the database, and never shows it", () => {
    const url = "postgres://curt@[::1],db2:5433/links";
    const withPassword = "postgres://curt:p%2Fw@db1/links";
    const passwordOf = (env: Record<string, string>) => {
      const { database } = readConfig(env);
      return database.engine === "postgres" && database.password;
    };
    expect(passwordOf({ DATABASE_URL: url })).toBeUndefined();
    expect(passwordOf({ DATABASE_URL: withPassword })).toBe("p/w");
    expect(passwordOf({ DATABASE_URL: url, DATABASE_PASSWORD_FILE: "/run/p" })).toEqual({ file: "/run/p" });
    expect(mistakesOf({ DATABASE_URL: withPassword, DATABASE_PASSWORD_FILE: "/run/p" })).toEqual([
      "DATABASE_URL and DATABASE_PASSWORD_FILE: only one of them may give the password",
    ]);
    const { database } = readConfig({ DATABASE_URL: url.replace("@", ":secret@") });
    expect(describeStore(database)).toBe("postgres://curt@[::1]:5432,db2:5433/links");
    for (const wrong of [
      "postgres://curt:secret@db1/links?mode=x",
      "postgres:curt:secret@db1/links",
      "postgres://curt:se/secret@db1/links",
      "postgres://:a@secret@db1/links",
    ])
      expect(mistakesOf({ DATABASE_URL: wrong })).toEqual([expect.not.stringContaining("secret@")]);
    for (const wrong of [
      "postgres://db1/links?user=curt&password=secret",
      "postgres://curt:a@db1/links?password=secret",
      "jdbc:postgresql://db1/links?password=secret",
      "postgres://curt:secret/links",
      "postgresql+pool://curt:secret@db1/links",
      '"postgres://curt:secret@db1/links"',
      "host=db1 password=secret",
    ])
      expect(mistakesOf({ DATABASE_URL: wrong })).toEqual([expect.not.stringContaining("secret")]);
    expect(mistakesOf({ DATABASE_URL: "postgres://curt:a@db1/links?sslmode=x" })).toEqual([
      expect.stringContaining('not "postgres://curt:…@db1/links?sslmode=x"'),
    ]);
  });

  test("accepts READ_URL only with PostgreSQL, with the primary's password as its default", () => {
    const database = { DATABASE_URL: "postgres://curt:one@db1/links" };
    const passwordAt = (READ_URL: string) => readConfig({ ...database, READ_URL }).readDatabase?.password;
    expect(passwordAt("postgres://curt@db2,db3/links")).toBe("one");
    expect(passwordAt("postgres://curt:two@db2/links")).toBe("two");
    expect(mistakesOf({ READ_URL: "postgres://curt@db2/links" })).toEqual([
      "READ_URL needs a PostgreSQL database: set DATABASE_URL to postgres://…",
    ]);
  });

  test("has port 443 by default if there is a certificate", () => {
    const files = { TLS_CERT: "a.pem", TLS_KEY: "b.pem", BASE_URL: "https://go.example.com" };
    expect(readConfig(files).port).toBe(443);
    expect(readConfig({ ...files, PORT: "8443" }).port).toBe(8443);
  });

  test.each<[string, Record<string, string>]>([
    ["TLS_CERT and TLS_KEY belong together", { TLS_CERT: "a.pem", BASE_URL: "https://a.example" }],
    ["TLS_CERT and TLS_KEY belong together", { TLS_KEY: "b.pem", BASE_URL: "https://a.example" }],
    [
      "BASE_URL must start with https://",
      { TLS_CERT: "a.pem", TLS_KEY: "b.pem", BASE_URL: "http://a.example" },
    ],
    ["BASE_URL must start with https://", { TLS_CERT: "a.pem", TLS_KEY: "b.pem" }],
  ])('reports "%s" for %j', (mistake, env) => {
    const mistakes = mistakesOf(env);
    expect(mistakes).toHaveLength(1);
    expect(mistakes[0]).toContain(mistake);
  });

  test("reports a wrong secret only by its length", () => {
    expect(mistakesOf({ ADMIN_TOKEN: "too-short" })).toEqual([
      expect.stringContaining('not "(9 characters)"'),
    ]);
  });

  test("finds misspelled settings", () => {
    const misspelled = {
      ADMIN_TOKN: "ADMIN_TOKEN",
      AMDIN_TOKEN: "ADMIN_TOKEN",
      BASE_URI: "BASE_URL",
      BLACKLIST: "BLOCKLIST",
      HOSTS: "HOST",
      LOGLEVEL: "LOG_LEVEL",
      METRIC_PORT: "METRICS_PORT",
      TRUSTED_PROXY: undefined,
      TRUSTED_PROXYS: "TRUSTED_PROXIES",
    };
    for (const [name, meant] of Object.entries(misspelled))
      expect(readConfig({ [name]: "x" }).misspellings).toEqual(meant === undefined ? [] : [{ name, meant }]);
    expect(readConfig({ BASE_URI: "x", BASE_URL: "http://curt.example" }).misspellings).toEqual([]);
  });

  test("reports no usual environment variable as misspelled", () => {
    // Variables of a login, systemd, PostgreSQL, containers, platforms, and other programs' .env files.
    const usual = `HOME USER LOGNAME SHELL PATH PWD OLDPWD MAIL MAILTO TERM LANG LANGUAGE LC_ALL TZ EDITOR VISUAL PAGER HOSTNAME
      HOSTTYPE OSTYPE SHLVL DISPLAY COLORTERM LS_COLORS XDG_DATA_DIRS XDG_DATA_HOME XDG_SESSION_ID SSH_CLIENT SSH_TTY SUDO_USER
      INVOCATION_ID JOURNAL_STREAM NOTIFY_SOCKET MAINPID STATE_DIRECTORY RUNTIME_DIRECTORY CACHE_DIRECTORY LOGS_DIRECTORY
      CONFIGURATION_DIRECTORY CREDENTIALS_DIRECTORY LISTEN_FDS LISTEN_PID MEMORY_PRESSURE_WATCH SYSTEMD_EXEC_PID WATCHDOG_USEC
      PGHOST PGPORT PGUSER PGPASSWORD PGPASSFILE PGDATABASE PGDATA PGSSLMODE PGSSLCERT PGSSLKEY POSTGRES_URL POSTGRES_PASSWORD
      DB_HOST DB_PORT DB_URL DB_NAME DB_USER DB_PASSWORD DATABASE DATABASE_NAME DATABASE_USER DATABASE_HOST MYSQL_HOST REDIS_URL
      REDIS_HOST REDIS_PORT SMTP_HOST SMTP_PORT HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY FTP_PROXY NODE_ENV NODE_OPTIONS
      NODE_VERSION BUN_INSTALL CI DEBUG VERBOSE APP_URL APP_KEY APP_ENV APP_PORT API_URL API_PORT WEB_PORT SITE_URL ROOT_URL
      PUBLIC_URL DOMAIN SECRET SECRET_KEY TOKEN API_TOKEN ADMIN_EMAIL ADMIN_USER SSH_KEY LOG_FILE LOG_FORMAT LOG_DIR
      KUBERNETES_PORT KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT CURT_PORT CURT_SERVICE_HOST CURT_SERVICE_PORT
      CURT_PORT_3000_TCP_PORT CURT_URL CURT_PASSWORD DYNO FLY_REGION K_SERVICE RENDER RAILWAY_ENVIRONMENT WEBSITE_HOSTNAME`;
    const env = Object.fromEntries(usual.split(/\s+/).map((name) => [name, "x"]));
    expect(readConfig(env).misspellings).toEqual([]);
  });

  test("refuses each wrong value", () => {
    const wrong: [string, string[]][] = [
      [
        "BLOCKLIST",
        ["http://lists.example/", "https:///", "https://a:b@lists.example/", "a.txt,file:///etc/list"],
      ],
      ["PORT", ["-1", "65536", "80.5", "0x50", "1e3"]],
      [
        "BASE_URL",
        [
          ...`example.com https://a.example/path https://a.example/?q https://a.example#f
            https://u@a.example https://a.example// javascript:x`.split(/\s+/),
          "https:// a.example",
        ],
      ],
      [
        "ADMIN_TOKEN",
        ["fifteen-letters", "with a space in it", "한글로-된-비밀번호-열여섯자리", "x".repeat(257)],
      ],
      ["EVENTS_URL", ["http://a.example/", "https://u:p@a.example/", "http://127.0.0.1.example/", "/events"]],
      [
        "EVENTS_SECRET",
        [
          "A".repeat(32),
          "whsec_short",
          `whsec_${"A".repeat(33)}`,
          `whsec_${"A".repeat(34)}`,
          `whsec_${"A".repeat(96)}`,
          `${WEBHOOK_SECRET} x`,
        ],
      ],
      ["EVENTS_TYPES", ["link", "auto,link.created"]],
      ["CURT_SECRET", ["x".repeat(31), `${"x".repeat(31)} `, "x".repeat(257)]],
      ["EDITS", ["yes", "48h", "24H"]],
      ["CONTACT", ["nobody", "http://curt.example/", "a@b@c"]],
      ["DOMAINS", ["go.example", "https://go.example/x", "https://a@b.example"]],
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
      ["TRUSTED_PROXIES", ["all", "10.0.0.0-10.0.0.9", "10.0.0.0/-1", "[::1]", "0x7f.1"]],
      ["DRAIN_WAIT", ["5", "6m", "1d"]],
      [
        "LIMIT_CREATE",
        ["30", "0/1m", "30/1", "30/0s", "30/32d", "1/1m/1m", "-1/1m", "1000001/1s", "30/1m,off", ",", "on"],
      ],
      ["LIMIT_VIEW", ["1/1s,2/2s,3/3s,4/4s,5/5s"]],
      ["LIMIT_REPORT", ["auto"]],
      ["DATABASE_POOL", ["0", "2", "1001", "many"]],
      ["READ_URL", ["sqlite:./data/curt.db", "postgres://db2/links", "http://db2/"]],
      ["HOST", ["a b", "http://x", "[::1]"]],
      ["METRICS_PORT", ["65536", "::1:9464", "10.0.0.5", "10.0.0.5:", "http://x:9464", "a b:9464", ":9464"]],
    ];
    for (const [secret, flaw] of [
      ["x".repeat(31), "31 characters, too few"],
      ["x".repeat(257), "257 characters, too many"],
      [`${"x".repeat(40)} x`, "42 characters, with a space or another sign"],
    ] as const)
      expect(mistakesOf({ CURT_SECRET: secret })).toEqual([expect.stringContaining(`(${flaw})`)]);
    for (const [name, values] of wrong) {
      for (const value of values)
        expect([value, mistakesOf({ [name]: value })], name).toEqual([
          value,
          [expect.stringContaining(`${name} must be`)],
        ]);
    }
    const [secret = ""] = mistakesOf({ CREATE_TOKEN: "a-short-secret" });
    expect(secret).toStartWith("CREATE_TOKEN must be a secret of 16");
    expect(secret).not.toContain("a-short-secret");
    for (const same of ["http://Curt.example:81", "https://a.example.", "https://xn--bj0bj06e.example"])
      expect(
        mistakesOf({
          BASE_URL: "https://curt.example",
          ALIASES: "a.example",
          DOMAINS: `https://한글.example,${same}`,
        }),
      ).toContainEqual(expect.stringMatching(/^DOMAINS must differ from each other, BASE_URL and ALIASES/));
    expect(mistakesOf({ PORT: "0", BASE_URL: " " })).toHaveLength(1);
    expect(mistakesOf({ PORT: "0" })).toEqual([
      "BASE_URL must be set when PORT is 0: the port is not known yet",
    ]);
  });
});

test("publicConfigOf leaves out every setting that is a secret", () => {
  const config = readConfig({
    CURT_SECRET: "planted-secret-of-the-manage-keys-1",
    ADMIN_TOKEN: "planted-secret-of-the-operator",
    CREATE_TOKEN: "planted-secret-of-creates",
    EVENTS_URL: "https://events.example/planted-secret",
    EVENTS_SECRET: WEBHOOK_SECRET,
  });
  expect(JSON.stringify(config)).toContain("planted-secret");
  expect(JSON.stringify(publicConfigOf(config))).not.toMatch(/planted-secret|AAAA/);
});
