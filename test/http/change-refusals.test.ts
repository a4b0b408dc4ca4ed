import { beforeEach, describe, expect, test } from "bun:test";

import { run } from "../cli/run.ts";
import { shareTools } from "../mcp/connect.ts";
import {
  createManagedLink,
  destinationOf,
  type ManagedLink,
  OTHER,
  TARGET,
} from "../support/managed-links.ts";
import { shareService } from "../support/service.ts";
import {
  CHANGE_REFUSALS,
  CHANGE_TYPE_REFUSALS,
  CREATED_MS,
  MANAGER_REFUSALS,
  NO_KEY,
  UNKNOWN,
  WRONG_KEY,
  WRONG_KEYS,
} from "./change-refusals.ts";
import { sendForm } from "./markup.ts";
import {
  expectEnvelope,
  expectHead,
  expectInForm,
  messageOf,
  rowsOf,
  reasonsOf,
  type Refusal,
} from "./refusal.ts";

type Sent = Readonly<Record<string, unknown>>;

// Links to other shorteners are refused in public posture only.
const curt = shareService({ POSTURE: "public" }, { startMs: CREATED_MS, standsStill: true });
const mcp = shareTools(curt);
let link: ManagedLink;
beforeEach(async () => void (link = await createManagedLink(curt)));

const patch = (sent: Sent, { path, key } = link, method = "PATCH") =>
  curt.fetch(path, {
    method,
    headers: { Authorization: `Bearer ${key}` },
    ...(method === "PATCH" && { body: JSON.stringify(sent) }),
  });

function sendManage(fields: Readonly<Record<string, string>>, { code, key } = link) {
  return sendForm(curt, `/${code}+manage`, { key, ...fields });
}

function change({ expires_at, ...sent }: Sent, of = link) {
  const texts = Object.entries(sent).map(([field, value]) => [field, String(value)]);
  const date = String(expires_at).replace(/:00\.000Z$/, "");
  return sendManage(
    {
      act: "change",
      target: TARGET,
      ...Object.fromEntries(texts),
      ...(expires_at !== undefined && { expires_at: "date", expires_at_date: date }),
    },
    of,
  );
}

async function edit({ password, ...sent }: Sent, { code, key } = link) {
  const options = Object.entries(sent).map(
    ([field, value]) => `--${field.replaceAll("_", "-")}=${String(value)}`,
  );
  return run(["edit", code, `--key=${key}`, ...options, ...(password === undefined ? [] : ["--password"])], {
    CURT_URL: curt.origin,
    CURT_PASSWORD: typeof password === "string" ? password : "",
  });
}

function expectPrinted({ code, stdout, stderr }: Awaited<ReturnType<typeof run>>, refusal: Refusal): void {
  expect([code, stdout, stderr]).toEqual([1, "", `curt: ${messageOf(refusal)} (instance: ${curt.origin})\n`]);
}

async function expectFromTool(
  tool: string,
  sent: Sent,
  refusal: Refusal,
  { code, key } = link,
): Promise<void> {
  const { isError, text } = await mcp.call(tool, { link: code, manage_key: key, ...sent });
  expect([isError, text]).toEqual([
    true,
    `${refusal.status ?? 400} ${reasonsOf(refusal)}: ${messageOf(refusal)}`,
  ]);
}

describe("a change", () => {
  test.each(rowsOf([...CHANGE_REFUSALS, ...CHANGE_TYPE_REFUSALS]))(
    "is refused by PATCH: %s",
    async (_, refusal) => {
      await expectEnvelope(await patch(refusal.sent), refusal);
      expect(await destinationOf(curt, link.code)).toBe(TARGET);
    },
  );

  test.each(rowsOf(CHANGE_REFUSALS))(
    "is refused by the manage page, which keeps the typed target and drops the password: %s",
    async (_, refusal) => {
      const page = await expectInForm(await change(refusal.sent), refusal);
      const { target = TARGET, password } = refusal.sent;
      expect(page).toContain(`value="${String(target)}"`);
      if (typeof password === "string") expect(page).not.toContain(password);
      expect(await destinationOf(curt, link.code)).toBe(TARGET);
    },
  );

  test.each(rowsOf(CHANGE_REFUSALS))("is refused by curt edit: %s", async (_, refusal) => {
    expectPrinted(await edit(refusal.sent), refusal);
  });

  // The schema of the tool refuses other limits before the service sees them.
  test.each(rowsOf(CHANGE_REFUSALS.filter(({ sent }) => !("max_visits" in sent))))(
    "is refused by the MCP tool update: %s",
    async (_, refusal) => {
      await expectFromTool("update", refusal.sent, refusal);
    },
  );
});

/** Expects the refusal of a change and of a withdrawal from every door. */
async function expectRefused(managed: ManagedLink, refusal: Refusal, onlyChanges = false): Promise<void> {
  const sent = { target: OTHER };
  await expectEnvelope(await patch(sent, managed), refusal);
  expectHead(await change(sent, managed), refusal);
  expectPrinted(await edit(sent, managed), refusal);
  await expectFromTool("update", sent, refusal, managed);
  if (onlyChanges) return;
  await expectEnvelope(await patch({}, managed, "DELETE"), refusal);
  expectHead(await sendManage({ act: "withdraw", sure: "yes" }, managed), refusal);
  // A command that is repeated after a lost response succeeds.
  if (reasonsOf(refusal) === "link.withdrawn") return;
  const { code, key } = managed;
  expectPrinted(await run(["withdraw", code, `--key=${key}`], { CURT_URL: curt.origin }), refusal);
}

describe("a manage key", () => {
  test.each(WRONG_KEYS)(
    "must be the link's own, also for reading and statistics, not %s",
    async (_, keyOf) => {
      const key = keyOf(link.key);
      await expectRefused({ ...link, key }, WRONG_KEY);
      for (const path of [link.path, `${link.path}/stats`])
        await expectEnvelope(await patch({}, { ...link, path, key }, "GET"), WRONG_KEY);
      expect(await destinationOf(curt, link.code)).toBe(TARGET);
    },
  );

  test("must be the link's own, not another's", async () => {
    const { key } = await createManagedLink(curt);
    await expectRefused({ ...link, key }, WRONG_KEY);
    for (const path of [link.path, `${link.path}/stats`])
      await expectEnvelope(await patch({}, { ...link, path, key }, "GET"), WRONG_KEY);
    const page = await expectInForm(await sendManage({ act: "" }, { ...link, key }), WRONG_KEY, {
      none: "key",
    });
    expect(page).not.toContain(TARGET);
  });

  test.each(["", "Basic dTpw", "Bearer", "Bearer KEY x"])(
    "is required by the API: %j",
    async (authorization) => {
      const Authorization = authorization.replace("KEY", link.key);
      for (const method of ["PATCH", "DELETE"]) {
        const body = method === "PATCH" ? "{}" : null;
        await expectEnvelope(
          await curt.fetch(link.path, { method, body, headers: { Authorization } }),
          NO_KEY,
        );
      }
    },
  );

  test("opens no unknown code", async () => {
    const unknown = { ...link, code: "nobody", path: "/api/v1/links/nobody" };
    await expectRefused(unknown, UNKNOWN);
    for (const path of [unknown.path, `${unknown.path}/stats`])
      await expectEnvelope(await patch({}, { ...unknown, path }, "GET"), UNKNOWN);
  });

  test.each(rowsOf(MANAGER_REFUSALS))("changes nothing of %s", async (_, refusal) => {
    const managed = await createManagedLink(curt, refusal.terms);
    await refusal.prepare?.(curt, managed);
    await expectRefused(managed, refusal, refusal.onlyChanges);
    const { status } = await patch({}, managed, "GET");
    expect(status).toBe(refusal.isHidden ? (refusal.status ?? 400) : 200);
    if (refusal.onlyChanges) expect((await patch({}, managed, "DELETE")).status).toBe(200);
  });
});
