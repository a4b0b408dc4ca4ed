// Events survive kills of the process and of the database, while the endpoint refuses every other request.
import { expect, test } from "bun:test";

import { startReceiver } from "../../events/receiver.ts";
import { type Program, type Settings, startProgram, temporaryFolder } from "../../support/service.ts";
import { startCluster } from "../postgres/cluster.ts";

const AT_ONCE = 20;
/** A process is killed after about this many of the last creates. */
const IN_FLIGHT = 100;
/** Each of these links is also changed. */
const CHANGED_EVERY = 10;
const JSON_TYPE = { "Content-Type": "application/json" };

/** Creates and changes links until `count` exist or the program is gone. Adds what was acknowledged. */
async function createAll(
  program: Program,
  count: number,
  acknowledged: Map<string, string[]>,
): Promise<void> {
  let remaining = count;
  async function createSome(): Promise<void> {
    while (remaining-- > 0) {
      const nth = remaining;
      const body = JSON.stringify({ target: `https://example.com/${nth}` });
      const created = await fetch(`${program.origin}/api/v1/links`, {
        method: "POST",
        headers: JSON_TYPE,
        body,
      });
      if (created.status !== 201) continue;
      const { data } = (await created.json()) as { data: { code: string; manage_key: string } };
      const types = ["link.created"];
      acknowledged.set(data.code, types);
      if (nth % CHANGED_EVERY > 0) continue;
      const changed = await fetch(`${program.origin}/api/v1/links/${data.code}`, {
        method: "PATCH",
        headers: { ...JSON_TYPE, Authorization: `Bearer ${data.manage_key}` },
        body: JSON.stringify({ target: "https://example.net/" }),
      });
      if (changed.status === 200) types.push("link.changed");
    }
  }
  await Promise.allSettled(Array.from({ length: AT_ONCE }, createSome));
}

async function deliver(
  settings: Settings,
  total: number,
  kills: number,
  disturb: (receiver: ReturnType<typeof startReceiver>) => Promise<void>,
) {
  using folder = temporaryFolder();
  await using receiver = startReceiver({ status: (nth) => (nth % 2 === 0 ? 503 : 204) });
  const all = { ...settings, DATA_DIR: folder.path, ...receiver.settings };
  const acknowledged = new Map<string, string[]>();
  const each = Math.ceil(total / (kills + 1));
  for (let killed = 0; killed < kills; killed++) {
    const program = await startProgram(all, { folder: folder.path });
    const requests = receiver.requests.length;
    await createAll(program, each - 2 * IN_FLIGHT, acknowledged);
    // Taking over takes a while.
    while (receiver.requests.length < requests + 4) await Bun.sleep(50);
    const before = acknowledged.size;
    const creating = createAll(program, 4 * IN_FLIGHT, acknowledged);
    while (acknowledged.size < before + IN_FLIGHT) await Bun.sleep(1);
    await disturb(receiver);
    program.kill("SIGKILL");
    await creating;
    await program.exited;
  }
  await using program = await startProgram(all, { folder: folder.path });
  program.expectFaults();
  await createAll(program, total - acknowledged.size, acknowledged);
  expect(acknowledged.size).toBeGreaterThan(total * 0.9);
  const missing = () => {
    const delivered = new Set(receiver.events.map(({ type, subject }) => `${type} ${subject}`));
    return [...acknowledged].flatMap(([code, types]) =>
      types.map((type) => `${type} ${code}`).filter((one) => !delivered.has(one)),
    );
  };
  while (missing().length > 0) await Bun.sleep(1000);
  expect(receiver.faults).toEqual([]);
  const first = new Map(receiver.events.toReversed().map((event) => [event.id, event]));
  const inOrder = [...first.values()].toReversed();
  for (const [code, events] of Map.groupBy(inOrder, ({ subject }) => subject))
    if (acknowledged.has(code))
      expect(events.map(({ type }) => type)).toEqual(
        ["link.created", "link.changed"].slice(0, events.length),
      );
  console.log(
    `${acknowledged.size} links, ${receiver.events.length} events arrived, ${first.size} of them different, ${receiver.requests.length} requests`,
  );
}

// 10,000 creates with five kills pass as well, in five minutes.
test(
  "every confirmed change is delivered in order over SQLite, despite two kills",
  () => deliver({}, 2500, 2, async () => {}),
  600_000,
);

test("every confirmed change is delivered in order over PostgreSQL, despite a failover and a kill", async () => {
  await using cluster = await startCluster(2);
  const [primary, ...standbys] = cluster.servers;
  await deliver({ DATABASE_URL: await cluster.url() }, 1000, 1, async (receiver) => {
    await primary?.kill();
    await cluster.promote(standbys);
    // The process that lost its primary sends again.
    const requests = receiver.requests.length;
    while (receiver.requests.length < requests + 2) await Bun.sleep(50);
  });
}, 600_000);
