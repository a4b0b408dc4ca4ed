import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { addCampaign, report, TOKEN } from "../../admin/operator.ts";
import { ROOT, type Running, startHere } from "../../service.ts";

const GUIDE = readFileSync(join(ROOT, "docs/admin.md"), "utf8");

/** The curl commands of the guide, in order, each on one line. */
function callsOf(): string[] {
  const blocks = [...GUIDE.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = ""]) =>
    block.replaceAll("\\\n", " "),
  );
  return blocks.flatMap((block) => block.split("\n")).filter((line) => line.startsWith("curl "));
}

async function prepare(): Promise<Running> {
  const curt = await startHere({ ADMIN_TOKEN: TOKEN });
  await addCampaign(curt);
  await report(curt, "bad7", { reason: "phishing" });
  return curt;
}

/** What a curl command of the guide does. */
async function perform(curt: Running, command: string): Promise<{ status: number; data: any }> {
  const [, body] = /-d '([^']+)'/.exec(command) ?? [];
  const [, method = body === undefined ? "GET" : "POST"] = /-X (\w+)/.exec(command) ?? [];
  const [, path = ""] = /'localhost:3000([^']+)'/.exec(command) ?? [];
  const headers = [...command.matchAll(/-H ["']([^:]+): ([^"']+)["']/g)].map(
    ([, name = "", value = ""]) => [name, value.replace("$ADMIN_TOKEN", TOKEN)] as [string, string],
  );
  const response = await curt.fetch(path, { method, headers, ...(body !== undefined && { body }) });
  return { status: response.status, data: ((await response.json()) as { data: unknown }).data };
}

test("the guide's evening with curl does what it says", async () => {
  await using curt = await prepare();
  const told: any[] = [];
  for (const command of callsOf()) {
    const { status, data } = await perform(curt, command);
    expect([command, status]).toEqual([command, 200]);
    told.push(data);
  }
  const [cases, link, found, asked, disabled, blocked, unblocked, enabled, answered, journal, ...shell] =
    told;
  expect(cases.cases).toMatchObject([{ code: "bad7", state: "open" }]);
  expect(link.code).toBe("bad7");
  // A busy machine may not have come to them in the time of one request.
  expect(found.links.length > 0 || found.cursor !== null).toBeTrue();
  expect(asked).toEqual({ count: 60, done: false });
  expect(disabled).toEqual({ count: 60, done: true, changed: 60 });
  for (const one of [blocked, unblocked, enabled, answered]) expect(one.changed).toBe(true);
  expect(journal.entries).toHaveLength(20);
  expect(shell).toMatchObject([
    { cases: [{ code: "bad7", state: "answered" }] },
    { code: "bad7", changed: true },
    { entries: [{ code: "bad7", action: "disable", reason: "spam" }, ...journal.entries.slice(0, -1)] },
  ]);
});
