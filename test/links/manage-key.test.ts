import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import { callApi, type ManagedLink, createManagedLink, OTHER } from "../support/managed-links.ts";
import { sharePostgres } from "../support/postgres.ts";
import { type RunningService, startService, temporaryFolder } from "../support/service.ts";

const CURT_SECRET = "a secret of an instance, 32 characters".replaceAll(" ", "-");

/** Acts on a service and stops it. */
async function during<T>(
  started: Promise<RunningService>,
  act: (service: RunningService) => Promise<T>,
): Promise<T> {
  await using service = await started;
  const result = await act(service);
  return result;
}

let changes = 0;
/** Edits a link, and returns the reason of a refusal or null. */
async function reasonAt(service: RunningService, { path, key }: ManagedLink): Promise<string | null> {
  const target = `${OTHER}/${++changes}`;
  const { reason, data } = await callApi(service, "PATCH", path, { key, body: { target } });
  if (reason === null) expect(data["target"]).toBe(target);
  return reason;
}

/** SQLite, even if the other tests run over PostgreSQL. */
const inFolder = (path: string) => ({ DATABASE_URL: `sqlite:${join(path, "curt.db")}` });

function secretsIn(path: string): number {
  using database = new Database(join(path, "curt.db"), { readonly: true });
  return database.query<{ count: number }, []>("SELECT count(*) AS count FROM secrets").get()?.count ?? -1;
}

describe("a manage key", () => {
  test("works after a restart, because the secret is in the database", async () => {
    using folder = temporaryFolder();
    const start = () => startService(inFolder(folder.path), { folder: folder.path });
    const link = await during(start(), (service) => createManagedLink(service));
    expect(secretsIn(folder.path)).toBe(1);
    await using restarted = await start();
    expect(await reasonAt(restarted, link)).toBeNull();
    const other = await createManagedLink(restarted);
    expect(await reasonAt(restarted, { ...link, key: other.key })).toBe("key.wrong");
  });

  test("depends only on CURT_SECRET if it is set, and the database contains neither", async () => {
    using folder = temporaryFolder();
    const start = (settings: Record<string, string>) =>
      startService({ ...inFolder(folder.path), ...settings }, { folder: folder.path });
    const withSetting = await during(start({ CURT_SECRET }), (service) => createManagedLink(service));
    expect(secretsIn(folder.path)).toBe(0);
    const withoutSetting = await during(start({}), async (service) => {
      expect(await reasonAt(service, withSetting)).toBe("key.wrong");
      return createManagedLink(service);
    });
    await using third = await start({ CURT_SECRET });
    expect(await reasonAt(third, withSetting)).toBeNull();
    expect(await reasonAt(third, withoutSetting)).toBe("key.wrong");
    const file = await Bun.file(join(folder.path, "curt.db")).text();
    expect(file).not.toContain(CURT_SECRET);
    for (const { key } of [withSetting, withoutSetting]) expect(file).not.toContain(key);
  });

  test("works at every instance of a database, even if two start simultaneously", async () => {
    const server = await sharePostgres();
    const DATABASE_URL = await server.url("shared");
    using one = temporaryFolder();
    using two = temporaryFolder();
    await (await startService({ DATABASE_URL, DATA_DIR: one.path }))[Symbol.asyncDispose]();
    const [first, second] = await Promise.all([
      startService({ DATABASE_URL, DATA_DIR: one.path }),
      startService({ DATABASE_URL, DATA_DIR: two.path }),
    ]);
    await using _first = first;
    await using _second = second;
    const [here, there] = [await createManagedLink(first), await createManagedLink(second)];
    for (const service of [first, second])
      for (const link of [here, there]) expect(await reasonAt(service, link)).toBeNull();
    // A change through one instance reaches the cache of the other within a second.
    const follow = async (service: RunningService) =>
      (await service.fetch(`/${here.code}`)).headers.get("location");
    const before = await follow(first);
    expect(await reasonAt(second, here)).toBeNull();
    expect(await follow(second)).toBe(`${OTHER}/${changes}`);
    while ((await follow(first)) === before) await Bun.sleep(20);
    expect(await follow(first)).toBe(`${OTHER}/${changes}`);
  });
});
