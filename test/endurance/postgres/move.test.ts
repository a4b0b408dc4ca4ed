import { expect, test } from "bun:test";
import { join } from "node:path";

import type { Code } from "../../../src/links/code.ts";
import { freePort } from "../../free-port.ts";
import { ask, make, OTHER } from "../../managed.ts";
import { startPostgres } from "../../postgres.ts";
import { openStoreOf, type Program, startProgram, temporaryFolder, PROGRAM } from "../../service.ts";

const CLIENTS = 6;
/** So many are created and visited in each store. */
const ENOUGH = 60;
const AWAY_MS = 20;

interface LoadedLink {
  readonly target: string;
  sent: number;
  answered: number;
}

/** Clients that create links and visit them. While the service is away, they try again, creates with the same key. */
function startLoad(origin: string) {
  const links = new Map<string, LoadedLink>();
  const clients = { areDone: false };
  let nth = 0;

  async function create(number: number): Promise<string | undefined> {
    const target = `https://example.com/${number}`;
    while (!clients.areDone) {
      try {
        const response = await fetch(`${origin}/api/v1/shorten`, {
          method: "POST",
          headers: { "Idempotency-Key": `key-${number}` },
          body: JSON.stringify({ original_url: target }),
        });
        if (response.status === 201) {
          const { data } = (await response.json()) as { data: { code: string } };
          links.set(data.code, { target, sent: 0, answered: 0 });
          return data.code;
        }
        // While it starts or stops, and on a busy machine.
        expect(response.status).toBe(503);
      } catch (error) {
        if (!isConnectionError(error)) throw error;
      }
      await Bun.sleep(AWAY_MS);
    }
    return undefined;
  }

  async function visit(code = ""): Promise<void> {
    const link = links.get(code);
    if (link === undefined) return;
    link.sent++;
    const headers = {
      "User-Agent": "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/140.0.0.0 Safari/537.36",
    };
    try {
      const { status, headers: told } = await fetch(`${origin}/${code}`, { headers, redirect: "manual" });
      if (status === 503) return;
      expect([code, status, told.get("location")]).toEqual([code, 302, link.target]);
      link.answered++;
    } catch (error) {
      if (!isConnectionError(error)) throw error;
      await Bun.sleep(AWAY_MS);
    }
  }

  async function client(): Promise<void> {
    while (!clients.areDone) {
      await visit(await create(nth++));
      // One that was created in any store.
      const codes = [...links.keys()];
      for (const at of [0, Math.floor(codes.length / 2)]) await visit(codes[at]);
    }
  }

  const all = Promise.all(Array.from({ length: CLIENTS }, client));
  return {
    links,
    async untilMore(): Promise<void> {
      const enough = links.size + ENOUGH;
      while (links.size < enough) await Promise.race([all, Bun.sleep(10)]);
    },
    async [Symbol.asyncDispose](): Promise<void> {
      clients.areDone = true;
      await all;
    },
  };
}

function isConnectionError(error: unknown): boolean {
  return typeof (error as { code?: unknown }).code === "string";
}

/** Moves everything, as docs/postgresql.md describes. */
async function move(from: string, to: string, folder: string): Promise<void> {
  const command = 'DATABASE_URL="$FROM" "$0" "$1" export - | DATABASE_URL="$TO" "$0" "$1" import -';
  const child = Bun.spawn(["/bin/sh", "-c", command, process.execPath, PROGRAM], {
    env: { ...process.env, FROM: from, TO: to, DATA_DIR: folder, PORT: "1" },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [code, stdout, stderr] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()]);
  expect([code, stdout, stderr]).toEqual([
    0,
    expect.stringContaining(" has everything of the export: "),
    expect.stringMatching(/^exported [^\n]*\n$/),
  ]);
}

test("a service under load moves to PostgreSQL and back: links, keys, retries and visits are as before", async () => {
  await using server = await startPostgres();
  using folder = temporaryFolder();
  const PORT = String(await freePort());
  const first = `sqlite:${join(folder.path, "first.db")}`;
  async function start(DATABASE_URL: string): Promise<Program> {
    const settings = { PORT, DATABASE_URL, DATA_DIR: folder.path };
    const started = await startProgram(settings, { folder: folder.path });
    started.expectFaults();
    return started;
  }
  async function stop(program: Program): Promise<void> {
    program.kill("SIGTERM");
    expect(await program.exited).toBe(0);
  }
  /** A busy store does not answer in time. */
  async function patiently<T extends { readonly status: number }>(request: () => Promise<T>): Promise<T> {
    for (;;) {
      const response = await request();
      if (response.status !== 503) return response;
      await Bun.sleep(AWAY_MS);
    }
  }
  const sendAgain = async (to: Program) => {
    const body = JSON.stringify({ target: "https://example.com/again" });
    const response = await patiently(() =>
      to.fetch("/api/v1/links", { method: "POST", headers: { "Idempotency-Key": "sent-again" }, body }),
    );
    return [response.status, ((await response.json()) as { data: { code: string } }).data.code];
  };

  let program = await start(first);
  await using _ = { [Symbol.asyncDispose]: () => program[Symbol.asyncDispose]() };
  const made = await make(program);
  const created = await sendAgain(program);
  await using load = startLoad(program.origin);
  await load.untilMore();
  let from = first;
  for (const to of [await server.url("middle"), `sqlite:${join(folder.path, "last.db")}`]) {
    await stop(program);
    await move(from, to, folder.path);
    from = to;
    program = await start(to);
    expect(await sendAgain(program)).toEqual(created);
    const body = { target: `${OTHER}/${to.length}` };
    const edited = await patiently(() => ask(program, "PATCH", made.path, { key: made.key, body }));
    expect(edited.status).toBe(200);
    await load.untilMore();
  }
  await load[Symbol.asyncDispose]();
  await stop(program);

  await using store = await openStoreOf(program);
  expect(load.links.size).toBeGreaterThanOrEqual(3 * ENOUGH);
  // None was created twice.
  expect(await store.size()).toBe(load.links.size + 2);
  for (const [code, { target, sent, answered }] of load.links) {
    const link = await store.find(code as Code);
    expect([code, link?.originalUrl]).toEqual([code, target]);
    expect((await store.sums(code as Code, link?.createdMs ?? 0)).visits).toBeWithin(answered, sent + 1);
  }
});
