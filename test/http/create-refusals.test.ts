import { beforeAll, describe, expect, test } from "bun:test";

import { run } from "../cli/run.ts";
import { connect, shareTools } from "../mcp/connect.ts";
import { TARGET } from "../support/managed-links.ts";
import { type LocalService, shareService, startService } from "../support/service.ts";
import {
  CALLER_REFUSALS,
  CREATE_REFUSALS,
  CREATE_TYPE_REFUSALS,
  type CreateRefusal,
  FORM_REFUSALS,
  NOW,
  TAKEN,
} from "./create-refusals.ts";
import { sendForm } from "./markup.ts";
import {
  errorsOf,
  expectEnvelope,
  expectInForm,
  messageOf,
  rowsOf,
  reasonsOf,
  SHORTEN_NAMES,
} from "./refusal.ts";

type Sent = CreateRefusal["sent"];
type Headers = Readonly<Record<string, string>>;

// Links to other shorteners are refused in public posture only.
const curt = shareService({ POSTURE: "public" }, { startMs: Date.parse(NOW), standsStill: true });
beforeAll(async () => void (await curt.shorten({ original_url: TARGET, custom_code: TAKEN })));

const CONTRACT = ["target", "code", "expire_duration"];
const ALL = [...CREATE_REFUSALS, ...CREATE_TYPE_REFUSALS];
const OWN = rowsOf(ALL.filter(({ sent }) => !("expire_duration" in sent)));
const OF_CONTRACT = rowsOf(
  ALL.filter(({ sent }) => Object.keys(sent).every((field) => CONTRACT.includes(field))),
);

const asContract = (sent: Sent) =>
  Object.fromEntries(Object.entries(sent).map(([field, value]) => [SHORTEN_NAMES[field] ?? field, value]));

const post = (path: string, body: unknown, headers: Headers = {}, service: LocalService = curt) =>
  service.fetch(path, { method: "POST", headers, body: JSON.stringify(body) });

/** The entries of a person for a link. The form has a choice for each duration, and one for a date. */
function formOf({ expires_at, starts_at, ...sent }: Sent): Record<string, string> {
  const local = (instant: unknown) => String(instant).replace(/:00\.000Z$/, "");
  const texts = Object.entries(asContract(sent)).map(([field, value]) => [field, String(value)]);
  return {
    ...Object.fromEntries(texts),
    ...(expires_at === "24h" && { expire_duration: expires_at }),
    ...(expires_at !== undefined &&
      expires_at !== "24h" && { expire_duration: "date", expires_at: local(expires_at) }),
    ...(starts_at !== undefined && { starts_at: local(starts_at) }),
  };
}

const optionsOf = ({ target, ...sent }: Sent) => [
  String(target),
  ...Object.entries(sent).map(([field, value]) => `--${field.replaceAll("_", "-")}=${String(value)}`),
];

describe("POST /api/v1/shorten", () => {
  test.each(OF_CONTRACT)("refuses %s", async (_, refusal) => {
    await expectEnvelope(await curt.shorten(asContract(refusal.sent)), refusal, SHORTEN_NAMES);
  });
});

describe("POST /api/v1/links", () => {
  test.each(OWN)("refuses %s, alone and in a batch", async (_, refusal) => {
    await expectEnvelope(await post("/api/v1/links", refusal.sent), refusal);
    const { data } = (await (await post("/api/v1/links/batch", [refusal.sent])).json()) as any;
    const [message, errors] = [messageOf(refusal), errorsOf(refusal)];
    expect(data.results).toEqual([{ status_code: refusal.status, status: "error", message, errors }]);
  });
});

describe("the home form", () => {
  test.each(rowsOf([...CREATE_REFUSALS, ...FORM_REFUSALS]))(
    "refuses %s, and keeps what was typed",
    async (_, refusal) => {
      const fields = formOf(refusal.sent);
      const page = await expectInForm(await sendForm(curt, "/", fields), refusal, SHORTEN_NAMES);
      for (const field of ["original_url", "custom_code"])
        expect(page).toContain(`value="${fields[field] ?? ""}"`);
    },
  );
});

describe("curt shorten", () => {
  test.each(rowsOf(CREATE_REFUSALS))("refuses %s", async (_, refusal) => {
    const { target } = refusal.sent;
    const { code, stdout, stderr } = await run(["shorten", ...optionsOf(refusal.sent)], {
      CURT_URL: curt.origin,
    });
    expect([code, stdout, stderr]).toEqual([1, "", `curt: ${String(target)}: ${messageOf(refusal)}\n`]);
  });
});

describe("the MCP tool shorten", () => {
  const mcp = shareTools(curt);

  test("refuses a link without a target", async () => {
    const { isError, text } = await mcp.call("shorten", {});
    expect([isError, text]).toEqual([true, expect.stringContaining("target")]);
  });

  // Its schema refuses other mistakes before the service sees them.
  test.each(rowsOf(CREATE_REFUSALS.filter(({ sent }) => !("max_visits" in sent))))(
    "refuses %s",
    async (_, refusal) => {
      const { isError, text, result } = await mcp.call("shorten", refusal.sent);
      const expected = `${refusal.status} ${reasonsOf(refusal)}: ${messageOf(refusal)}`;
      expect([isError, text, result]).toEqual([true, expected, undefined]);
    },
  );
});

test.each(rowsOf(CALLER_REFUSALS))("every door refuses %s", async (_, refusal) => {
  const { settings, token, created = 0 } = refusal;
  await using service = await startService(settings, { standsStill: true });
  const refused = { target: TARGET, code: "refused" };
  for (let nth = 0; nth < created; nth++) await service.shorten({ original_url: TARGET });
  const headers: Headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  await expectEnvelope(await service.shorten(asContract(refused), headers), refusal, SHORTEN_NAMES);
  await expectEnvelope(await post("/api/v1/links", refused, headers, service), refusal);
  await expectEnvelope(await post("/api/v1/links/batch", [refused], headers, service), refusal);
  const page = await expectInForm(
    await sendForm(service, "/", { ...formOf(refused), token: token ?? "" }),
    refusal,
  );
  expect(page).toContain('value="refused"');
  if (token !== undefined) expect(page).not.toContain(token);
  // The command waits for a limit.
  if (settings["CREATE_TOKEN"] === undefined) return;
  const environment = { CURT_URL: service.origin, CURT_TOKEN: token ?? "" };
  const { code, stderr } = await run(["shorten", TARGET], environment);
  expect([code, stderr]).toEqual([1, `curt: ${messageOf(refusal)} (set CURT_TOKEN)\n`]);
  await using mcp = await connect(environment);
  const { isError, text } = await mcp.call("shorten", { target: TARGET });
  expect([isError, text]).toEqual([true, expect.stringContaining(`401 ${reasonsOf(refusal)}: `)]);
  expect((await service.fetch("/refused")).status).toBe(404);
});

test("every door creates a link with the token", async () => {
  const CREATE_TOKEN = "correct-horse-battery";
  await using service = await startService({ CREATE_TOKEN });
  const headers = { Authorization: `Bearer ${CREATE_TOKEN}` };
  const link = { target: TARGET };
  expect((await service.shorten(asContract(link), headers)).status).toBe(201);
  expect((await post("/api/v1/links", link, headers, service)).status).toBe(201);
  expect((await post("/api/v1/links/batch", [link], headers, service)).status).toBe(200);
  expect((await sendForm(service, "/", { ...formOf(link), token: CREATE_TOKEN })).status).toBe(303);
  const environment = { CURT_URL: service.origin, CURT_TOKEN: CREATE_TOKEN };
  expect((await run(["shorten", TARGET], environment)).code).toBe(0);
  await using mcp = await connect(environment);
  expect((await mcp.call("shorten", link)).isError).toBeFalse();
});
