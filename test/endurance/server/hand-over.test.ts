// SIGUSR2: the program on disk takes over from the one that runs.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { cpSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { checkStore } from "../../../src/store/open.ts";
import { openWriter } from "../../../src/store/sqlite/file/file.ts";
import { sendRaw } from "../../http/raw.ts";
import { freePort } from "../../support/free-port.ts";
import { testOnLinux } from "../../support/linux.ts";
import { isRunning, signal } from "../../support/processes.ts";
import {
  type Program,
  ROOT,
  type Settings,
  startProgram,
  temporaryFolder,
  untilLogged,
  PROGRAM,
} from "../../support/service.ts";

const TARGET = "https://example.com/";
/** Clients that keep their connections, and clients that open one for each request. */
const KEPT = 4;
const FRESH = 48;
/** Pause between two requests of a client, until the hand-over starts. */
const CALM_PAUSE_MS = 100;
/** When an old process closes its port, the kernel resets connections that it has not accepted. Proxies then try again. */
const MAX_TRIES = 3;

/** A copy of the program, which a test can change. */
function copyProgram(folder: string): string[] {
  for (const part of ["src", "client", "package.json", "tsconfig.json"])
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  return [process.execPath, join(folder, "src/main.ts")];
}

async function startCopy(folder: string, processes: number, more: Settings = {}): Promise<Program> {
  const command = [...copyProgram(folder), "serve"];
  const settings = { PROCESSES: String(processes), PORT: String(await freePort()), ...more };
  return startProgram(settings, { command, folder });
}

function change(file: string, edit: (text: string) => string): void {
  const before = readFileSync(file, "utf8");
  const after = edit(before);
  if (after === before) throw new Error(`${file} stayed as it was`);
  writeFileSync(file, after);
}

/** A later version, whose schema has more than the present one. */
function update(folder: string): void {
  change(join(folder, "package.json"), (text) => text.replace(/"version": "[^"]+"/, `"version": "9.9.9"`));
  const migrations = join(folder, "src/store/sqlite/migrations");
  writeFileSync(
    join(migrations, "999-newer.sql"),
    "ALTER TABLE links ADD COLUMN newer TEXT; CREATE TABLE newer (one TEXT NOT NULL) STRICT;",
  );
  change(join(folder, "src/store/sqlite/file/schema.ts"), (text) =>
    text.replace(
      /export const MIGRATIONS = \[([^\]]+)\]/,
      `import newer from "../migrations/999-newer.sql" with { type: "text" };\nexport const MIGRATIONS = [...[$1], newer]`,
    ),
  );
}

const childrenIn = (line: string | undefined) =>
  (JSON.parse(line ?? "{}") as { children?: number[] }).children ?? [];
const lineWith = ({ logged }: Program, text: string) => logged.findLast((line) => line.includes(text));

for (const processes of [1, 3])
  testOnLinux(
    `PROCESSES=${processes}: a newer version takes over under load, and every request succeeds within three tries`,
    async () => {
      using folder = temporaryFolder();
      await using program = await startCopy(folder.path, processes);
      const before = childrenIn(lineWith(program, "listens on"));
      await program.shorten({ original_url: TARGET, custom_code: "abc" });
      const answers: unknown[] = [];
      async function request(send: () => Promise<Response>, tries = 1): Promise<unknown> {
        try {
          return (await send()).status;
        } catch (error) {
          return tries < MAX_TRIES && (error as { code?: unknown }).code === "ECONNRESET"
            ? request(send, tries + 1)
            : String(error);
        }
      }
      async function requestRaw(text: string, tries = 1): Promise<number> {
        const answer = await sendRaw(program.origin, text);
        return answer === "" && tries < MAX_TRIES ? requestRaw(text, tries + 1) : Number(answer.slice(9, 12));
      }
      const stopping = new AbortController();
      let pauseMs = CALM_PAUSE_MS;
      const pause = async () => pauseMs > 0 && Bun.sleep(pauseMs);
      const kept = Array.from({ length: KEPT }, async (_, client) => {
        for (let nth = 0; !stopping.signal.aborted; nth++) {
          const body = { original_url: TARGET, custom_code: `c-${client}-${nth}` };
          answers.push(await request(() => program.fetch("/abc")));
          answers.push(await request(() => program.shorten(body)));
          await pause();
        }
      });
      const fresh = Array.from({ length: FRESH }, async () => {
        const text = "GET /abc HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        while (!stopping.signal.aborted) {
          answers.push(await requestRaw(text));
          await pause();
        }
      });
      while (answers.length < 50) await Bun.sleep(5);
      update(folder.path);
      program.kill("SIGUSR2");
      await untilLogged(program, "Curt 9.9.9 takes over");
      pauseMs = 0;
      await untilLogged(program, "the old processes have ended");
      const enough = answers.length + 100;
      while (answers.length < enough) await Bun.sleep(5);
      stopping.abort();
      await Promise.all([...kept, ...fresh]);
      expect(new Set(answers)).toEqual(new Set([302, 201]));
      expect(before.filter(isRunning)).toEqual([]);

      program.kill("SIGTERM");
      expect(await program.exited).toBe(0);

      const countOf = (status: number) => answers.filter((answer) => answer === status).length;
      {
        using database = new Database(program.file);
        const numberOf = (query: string) => Object.values(database.query(query).get() as object)[0] as number;
        expect(numberOf("SELECT count(*) FROM links")).toBe(1 + countOf(201));
        expect(numberOf("SELECT sum(visits + bots) FROM visits")).toBe(countOf(302));
      }
      // Only an earlier backup leads back to the old version.
      const refusal = await checkStore(program.database).catch((error: Error) => error.message);
      expect(refusal).toContain("created by a newer Curt");
    },
  );

test("a new version that can't start leaves the old one serving, and a crashed process is replaced", async () => {
  using folder = temporaryFolder();
  await using program = await startCopy(folder.path, 1);
  const schema = join(folder.path, "src/store/sqlite/file/schema.ts");
  const good = readFileSync(schema, "utf8");
  program.expectFaults();
  writeFileSync(schema, "this is no program");
  program.kill("SIGUSR2");
  await untilLogged(program, "the old ones keep serving");
  expect((await program.shorten({ original_url: TARGET, custom_code: "abc" })).status).toBe(201);

  writeFileSync(schema, good);
  program.kill("SIGUSR2");
  await untilLogged(program, "the old processes have ended");
  expect((await program.fetch("/abc")).status).toBe(302);
  const [crashing = 0] = childrenIn(lineWith(program, "takes over"));
  signal(crashing, "SIGKILL");
  await untilLogged(program, "another process replaced it");
  expect((await program.fetch("/abc")).status).toBe(302);
  program.kill("SIGTERM");
  expect(await program.exited).toBe(0);
});

test("a newer version restores a backup of this one, and its start migrates it", async () => {
  using folder = temporaryFolder();
  const backup = join(folder.path, "backup.db");
  openWriter(backup).close();
  const command = copyProgram(folder.path);
  update(folder.path);
  const restore = [...command, "restore", backup, "--to", `sqlite:${folder.path}/curt.db`];
  expect(Bun.spawnSync(restore).exitCode).toBe(0);
  await using program = await startProgram({}, { command: [...command, "serve"], folder: folder.path });
  expect((await program.shorten({ original_url: TARGET })).status).toBe(201);
  expect(await checkStore(program.database).catch(String)).toContain("created by a newer Curt");
});

test("counters of old processes stay in the metrics, even without an earlier scrape", async () => {
  const metricsPort = await freePort();
  await using program = await startProgram({ METRICS_PORT: String(metricsPort) });
  await program.shorten({ original_url: TARGET, custom_code: "abc" });
  for (let nth = 0; nth < 20; nth++) await program.fetch("/abc");
  program.kill("SIGUSR2");
  await untilLogged(program, "the old processes have ended");
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const counts = [...text.matchAll(/^curt_redirects_total\{.*\} (\d+)$/gm)].map(([, count]) => Number(count));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(20);
});

testOnLinux("SIGUSR2 during a start is ignored", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "curt.db");
  await (await startProgram({}, { folder: folder.path }))[Symbol.asyncDispose]();
  using locked = new Database(file);
  locked.run("BEGIN IMMEDIATE");
  const child = Bun.spawn([process.execPath, PROGRAM, "serve"], {
    env: { ...process.env, PORT: "0", BASE_URL: "https://curt.example", DATABASE_URL: `sqlite:${file}` },
    stdout: "pipe",
  });
  while (!opened(child.pid).includes(file)) await Bun.sleep(5);
  child.kill("SIGUSR2");
  let logged = "";
  const steps: [string, () => void][] = [
    ["SIGUSR2 is ignored", () => void locked.run("COMMIT")],
    ["listens on", () => child.kill("SIGTERM")],
  ];
  for await (const chunk of child.stdout) {
    logged += Buffer.from(chunk).toString();
    for (let next = steps[0]; next !== undefined && logged.includes(next[0]); next = steps[0]) {
      steps.shift();
      next[1]();
    }
  }
  expect(steps).toEqual([]);
  expect([await child.exited, child.signalCode]).toEqual([0, null]);
});

testOnLinux("a stop during a hand-over exits with 0 and logs no warning", async () => {
  using folder = temporaryFolder();
  const settings = { PORT: String(await freePort()), DATABASE_URL: `sqlite:${folder.path}/curt.db` };
  const child = Bun.spawn([process.execPath, PROGRAM, "serve"], {
    env: { ...process.env, ...settings },
    stdout: "pipe",
    stderr: "pipe",
  });
  const { pid } = child;
  let logged = "";
  for await (const chunk of child.stdout) {
    const wasStarted = logged.includes("listens on");
    logged += Buffer.from(chunk).toString();
    if (wasStarted || !logged.includes("listens on")) continue;
    child.kill("SIGUSR2");
    // The new process opens the store a moment later, when the old one has closed it.
    while (readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8") === "") await Bun.sleep(1);
    child.kill("SIGTERM");
  }
  expect([await child.exited, await child.stderr.text()]).toEqual([0, ""]);
  expect(logged).toContain('"stopping"');
  expect(logged).not.toMatch(/"level":"(?:warn|error)"/);
});

test("a hung old process is killed, so that the hand-over ends", async () => {
  await using program = await startProgram({ PROCESSES: "2" }, { roundMs: 300 });
  const [hung = 0] = childrenIn(lineWith(program, "listens on"));
  program.kill("SIGUSR2");
  await untilLogged(program, "takes over");
  signal(hung, "SIGSTOP");
  await untilLogged(program, "the old processes have ended");
  expect(isRunning(hung)).toBeFalse();
});

/** The paths of the files that a process has open. */
function opened(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).flatMap((descriptor) => {
    try {
      return [readlinkSync(join(folder, descriptor))];
    } catch {
      return [];
    }
  });
}
