import { beforeAll, describe, expect, test } from "bun:test";

import { BODIES } from "../../src/lib/bounds.ts";
import { TOKEN } from "../admin/operator.ts";
import { addGuarded } from "../support/guarded-links.ts";
import { createManagedLink, type ManagedLink, TARGET } from "../support/managed-links.ts";
import { shareService } from "../support/service.ts";
import {
  type BodyRefusal,
  formRefusals,
  jsonRefusals,
  shapeRefusals,
  SITE_REFUSALS,
} from "./body-refusals.ts";
import { expectGuarded, sendForm } from "./markup.ts";
import { expectEnvelope, expectInForm, rowsOf, SHORTEN_NAMES } from "./refusal.ts";

const curt = shareService({ ADMIN_TOKEN: TOKEN });
let link: ManagedLink;
beforeAll(async () => {
  link = await createManagedLink(curt, { code: "mine" });
  await addGuarded(curt, "closed", { password: "open", target: TARGET });
});

const ADDRESS = "https://example.com/a/long/address";
const CONTRACT = "POST /api/v1/shorten";

describe.each([
  [CONTRACT, "body.object", { original_url: ADDRESS }],
  ["POST /api/v1/links", "body.object", { target: ADDRESS }],
  ["POST /api/v1/links/batch", "body.array", [{ target: ADDRESS }]],
  ["PATCH /api/v1/links/{code}", "body.object", { expires_at: "1week" }],
  [
    "POST /api/v1/links/{code}/reports",
    "body.object",
    { reason: "phishing", note: "It asks for my bank's password." },
  ],
] as const)("%s", (at, shape, example) => {
  const [method = "", path = ""] = at.replace("{code}", "mine").split(" ");

  test.each(rowsOf([...jsonRefusals(BODIES[at].maxBytes), ...shapeRefusals(shape, JSON.stringify(example))]))(
    "refuses %s",
    async (_, refusal) => {
      const headers = {
        Authorization: `Bearer ${link.key}`,
        "Content-Type": "application/json",
        ...refusal.sent,
      };
      const response = await curt.fetch(path, { method, headers, body: refusal.body });
      await expectEnvelope(response, refusal, at === CONTRACT ? SHORTEN_NAMES : undefined);
    },
  );
});

describe.each([
  ["POST /", "/"],
  ["POST /{code}+manage", "/mine+manage"],
  ["POST /{code}+report", "/mine+report"],
] as const)("%s", (at, path) => {
  const ROWS = rowsOf([...formRefusals(BODIES[at].maxBytes), ...SITE_REFUSALS]);
  test.each(ROWS)("refuses %s, with a page", async (_, refusal) => {
    const response = await sendForm(curt, path, refusal.body, refusal.sent);
    expectGuarded(response, false, path !== "/mine+manage");
    // Without the key, the manage page has one field only.
    await expectInForm(response, refusal, { none: path === "/mine+manage" ? "key" : "none" });
  });
});

describe.each([
  ["POST /", "/", "application/json"],
  ["POST /{code}+report", "/mine+report", "application/json"],
  ["POST /{code}", "/closed", "text/html"],
  ["POST /admin", "/admin", "text/html"],
] as const)("%s", (at, path, Accept) => {
  const rows = formRefusals(BODIES[at].maxBytes);
  test.each(rowsOf(Accept === "text/html" ? [...rows, ...SITE_REFUSALS] : rows))(
    "refuses %s, with JSON",
    async (_, refusal: BodyRefusal) => {
      const response = await sendForm(curt, path, refusal.body, { ...refusal.sent, Accept });
      expect(response.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
      await expectEnvelope(response, refusal, SHORTEN_NAMES);
    },
  );
});
