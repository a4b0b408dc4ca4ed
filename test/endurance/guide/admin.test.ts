import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { addCampaign, report, TOKEN } from "../../admin/operator.ts";
import { ROOT, type RunningService, startService } from "../../support/service.ts";
import { commandsOf, requestOf, scriptsOf } from "../../support/shell-scripts.ts";

const GUIDE = readFileSync(join(ROOT, "docs/admin.md"), "utf8");

async function prepare(): Promise<RunningService> {
  const curt = await startService({ ADMIN_TOKEN: TOKEN });
  await addCampaign(curt);
  await report(curt, "bad7", { reason: "phishing" });
  return curt;
}

test("the curl commands of docs/admin.md find and stop a campaign, and undo a mistake", async () => {
  await using curt = await prepare();
  const responses: any[] = [];
  for (const command of scriptsOf(GUIDE).flatMap(commandsOf)) {
    if (command.words[0] !== "curl") continue;
    const { url, method, body, headers } = requestOf(command);
    headers.set("Authorization", headers.get("Authorization")?.replace("$ADMIN_TOKEN", TOKEN) ?? "");
    const response = await curt.fetch(url.replace("localhost:3000", ""), { method, headers, body });
    expect([command.words, response.status]).toEqual([command.words, 200]);
    responses.push(((await response.json()) as { data: unknown }).data);
  }
  const [cases, link, links, counted, disabled, blocked, unblocked, enabled, answered, journal] = responses;
  expect(cases.cases).toMatchObject([{ code: "bad7", state: "open" }]);
  expect(link.code).toBe("bad7");
  // A busy machine may not find them in the time of one request.
  expect(links.links.length > 0 || links.cursor !== null).toBeTrue();
  expect(counted).toEqual({ count: 60, done: false, until: expect.any(String) });
  expect(disabled).toMatchObject({ count: 60, done: true, changed: 60 });
  for (const one of [blocked, unblocked, enabled, answered]) expect(one.changed).toBe(true);
  const actions = journal.entries.map(({ action }: { action: string }) => action);
  expect(actions).toEqual(["nothing-wrong", "enable", "unblock-host", "block-host", "disable"]);
});
