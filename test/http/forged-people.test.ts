// Requests that pretend to come from a person, in thousands of combinations. None may read or change what only that person may.
import { describe, expect, test } from "bun:test";

import { callApi, TARGET } from "../support/managed-links.ts";
import { shareService, type RunningService } from "../support/service.ts";
import { callAs, createAs, HEADER, named, PROXY } from "./people.ts";
import { sendRaw } from "./raw.ts";

const TOKEN_OF_MINA = "a-long-token-named-mina";
const SETTINGS = { ...PROXY, CREATE_TOKEN: `mina:${TOKEN_OF_MINA} feed:a-long-token-of-a-feed` };

/** Services on which a header names nobody, or somebody else. */
const SERVICES = {
  "behind the proxy": shareService(SETTINGS),
  "behind the proxy, with everybody as editor": shareService({ ...SETTINGS, EDITORS: "everybody" }),
};
const UNTRUSTED = shareService({ ...SETTINGS, TRUSTED_PROXIES: "192.0.2.7,198.51.100.0/24" });

type Lines = readonly string[];

/** Header lines that don't name mina, and nobody else. */
const NAMES: Lines[] = [
  [],
  [`${HEADER}: mina`, `${HEADER}: mina`],
  [`${HEADER}: mina`, `${HEADER.toLowerCase()}: joon`],
  [`${HEADER.toUpperCase()}: joon`, `${HEADER}: mina`],
  [`${HEADER}: `, `${HEADER}: mina`, `${HEADER}: mina`],
  [`${HEADER}: mina, mina`],
  [`${HEADER}: mina,`],
  [`${HEADER}: ,mina`],
  [`${HEADER}: joon, mina`],
  [`${HEADER}: mina;joon`],
  [`${HEADER}: mina joon`],
  [`${HEADER}: "mina"`],
  [`${HEADER}: <mina>`],
  [`${HEADER}: mina/../mina`],
  [`${HEADER}: m\u00EDna`],
  [`${HEADER}: mina%00`],
  [`${HEADER}: ${"mina".repeat(17)}`],
  [`${HEADER}: mina${"x".repeat(4000)}`],
  [`${HEADER.replace("-", "_")}: mina`],
  [`X-${HEADER}: mina`],
  [`Remote-User: mina`],
  [`X-Forwarded-User: mina`],
  [`Forwarded: for=mina`],
  [`Cookie: ${HEADER}=mina`],
];
/** Lines that name another person, who isn't mina in other capitals. */
const OTHERS: Lines[] = [
  [`${HEADER}: Mina`],
  [`${HEADER}: MINA`],
  [`${HEADER}: mina.`],
  [`${HEADER}: mina@team.example`],
  [`${HEADER}: joon`],
  [`${HEADER}: feed`],
];
/** Mina's own browser, on a page of another site. */
const FOREIGN: Lines[] = [
  ["Sec-Fetch-Site: cross-site"],
  ["Sec-Fetch-Site: same-site"],
  ["Sec-Fetch-Site: same-origin, none"],
  ["Origin: https://evil.example"],
  ["Origin: null"],
  ["Origin: https://curt.example.evil.example"],
  ["Origin: http://curt.example"],
  ["Sec-Fetch-Site: cross-site", "Origin: https://curt.example"],
].map((lines) => [...lines, `${HEADER}: mina`]);

/** Headers that a forger adds, also with keys of former generations. */
const credentials = (keys: Lines): Lines[] => [
  [],
  [`Authorization: Bearer ${TOKEN_OF_MINA}`],
  [`Authorization: Bearer mina:${TOKEN_OF_MINA}`],
  ["Authorization: Bearer mina"],
  [`Authorization: Basic ${btoa("mina:")}`],
  ["X-Forwarded-For: 127.0.0.1"],
  ...keys.map((key) => [`Authorization: Bearer ${key}`]),
];

const VERSIONS = ["1.1", "1.0"] as const;

interface Attempt {
  readonly line: string;
  readonly body: string;
}

/** Everything that only mina may do with her link. */
const attemptsOn = (code: string, isForEditors: boolean): Attempt[] => [
  { line: `DELETE /api/v1/links/${code}`, body: "" },
  { line: `PATCH /api/v1/links/${code}`, body: JSON.stringify({ owner: "joon" }) },
  { line: `PATCH /api/v1/links/${code}`, body: JSON.stringify({ password: "mine now" }) },
  { line: `POST /${code}+manage`, body: "act=withdraw&sure=yes" },
  { line: `POST /${code}+manage`, body: "act=hand-over&owner=joon" },
  ...(isForEditors
    ? []
    : [
        {
          line: `PATCH /api/v1/links/${code}`,
          body: JSON.stringify({ target: "https://example.org/forged" }),
        },
        { line: `POST /${code}+manage`, body: "act=change&target=https://example.org/forged" },
      ]),
];
const LIST = { line: "GET /api/v1/links?owner=me", body: "" };

function requestOf({ line, body }: Attempt, lines: Lines, version: (typeof VERSIONS)[number]): string {
  const type = line.startsWith("POST") ? "application/x-www-form-urlencoded" : "application/json";
  return [
    `${line} HTTP/${version}`,
    "Host: curt.example",
    "Connection: close",
    ...lines,
    ...(body === "" ? [] : [`Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body)}`]),
    "",
    body,
  ].join("\r\n");
}

/** Few enough for the queue of pages. */
const AT_ONCE = 6;
/** Sends all, and returns their number. A response below 400 is a forgery that got in. */
async function sendAll(curt: RunningService, requests: readonly string[]): Promise<number> {
  for (let from = 0; from < requests.length; from += AT_ONCE) {
    const some = requests.slice(from, from + AT_ONCE);
    for (const [nth, response] of (
      await Promise.all(some.map((one) => sendRaw(curt.origin, one)))
    ).entries()) {
      const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(response)?.[1]);
      expect(status, some[nth]).toBeGreaterThanOrEqual(400);
      expect(status, some[nth]).toBeLessThan(500);
      expect(response, some[nth]).not.toContain("for mina only");
    }
  }
  return requests.length;
}

/** A link of mina's that she gave away and got back, with its former keys. */
async function createGivenBack(curt: RunningService) {
  const link = await createAs(curt, "mina", { title: "for mina only" });
  const keys = [link.key];
  for (const [from, to] of [
    ["mina", "joon"],
    ["joon", "mina"],
  ] as const) {
    await callAs(curt, from, "PATCH", link.path, { body: { owner: to } });
    const { data } = await callAs(curt, to, "PATCH", link.path, { body: { title: "for mina only" } });
    if (to !== "mina") keys.push(data.manage_key);
  }
  const before = (await callAs(curt, "mina", "GET", link.path)).data;
  return { ...link, keys, before };
}

describe.each(Object.entries(SERVICES))("%s", (name, curt) => {
  test("no forged request gets in", async () => {
    const { code, path, keys, before } = await createGivenBack(curt);
    const isForEditors = name.includes("editor");
    const all = (lines: Lines[], attempts: readonly Attempt[]) =>
      attempts.flatMap((attempt) =>
        lines.flatMap((who) =>
          credentials(keys).flatMap((more) =>
            VERSIONS.map((version) => requestOf(attempt, [...who, ...more], version)),
          ),
        ),
      );
    const attempts = attemptsOn(code, false);
    let sent = await sendAll(curt, all([...NAMES, ...FOREIGN], attempts));
    sent += await sendAll(curt, all(OTHERS, attemptsOn(code, isForEditors)));
    sent += await sendAll(curt, all([...NAMES, ...FOREIGN], [LIST]));
    expect(sent).toBeGreaterThan(4000);
    expect((await callAs(curt, "mina", "GET", path)).data).toEqual(before);
    // The same request of mina's own gets in.
    expect((await callAs(curt, "mina", "DELETE", path)).status).toBe(200);
  });
});

test("a header from an address that isn't trusted names nobody", async () => {
  const { data } = await callApi(UNTRUSTED, "POST", "/api/v1/links", {
    key: TOKEN_OF_MINA,
    body: { target: TARGET },
  });
  expect(data).not.toHaveProperty("owner");
  const requests = attemptsOn(data.code, false).flatMap((attempt) =>
    [[`${HEADER}: mina`], [`${HEADER}: mina`, "X-Forwarded-For: 192.0.2.7"]].map((lines) =>
      requestOf(attempt, lines, "1.1"),
    ),
  );
  await sendAll(UNTRUSTED, requests);
  expect(
    await (await UNTRUSTED.fetch("/api/v1/links?owner=me", { headers: named("mina") })).json(),
  ).toMatchObject({
    errors: [{ reason: "user.missing" }],
  });
});
