import { dlopen, FFIType, ptr } from "bun:ffi";
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, statfsSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";

import { OPENING_KIB } from "../../../src/store/sqlite/file/file.ts";
import { addressOf, scrapeUntil } from "../../metrics/scrape.ts";
import { damageStore } from "../../stores/damage.ts";
import { testOnLinux } from "../../support/linux.ts";
import { startService, startProgram, temporaryFolder, untilLogged, PROGRAM } from "../../support/service.ts";
import { untilCounted, visit } from "../../visits/visits.ts";

const original_url = "https://example.com/";

/** Sets the largest size a process may write files to (RLIMIT_FSIZE), as a full disk would. Linux. */
function limitFileSize(pid: number, bytes: bigint): void {
  const RLIMIT_FSIZE = 1;
  const { symbols } = dlopen("libc.so.6", {
    prlimit: { args: [FFIType.i32, FFIType.i32, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  });
  // The hard limit stays, so that the soft one can be raised again.
  const limit = new BigUint64Array([bytes, 0xffff_ffff_ffff_ffffn]);
  expect(symbols.prlimit(pid, RLIMIT_FSIZE, ptr(limit), null)).toBe(0);
}

/** A process that ignores SIGXFSZ sees EFBIG, which SQLite treats like a full disk. */
const limitable = (limit = "") => ({
  command: ["/bin/sh", "-c", `trap '' XFSZ; ${limit} exec "$0" "$1" serve`, process.execPath, PROGRAM],
});

testOnLinux(
  "after a start on a full disk, links redirect without counting visits until there is room, and limited links get 503",
  async () => {
    using folder = temporaryFolder();
    {
      await using before = await startProgram({}, { folder: folder.path });
      expect((await before.shorten({ original_url, custom_code: "kept" })).status).toBe(201);
      const body = JSON.stringify({ target: original_url, code: "once", max_visits: 1 });
      const headers = { "Content-Type": "application/json" };
      expect((await before.fetch("/api/v1/links", { method: "POST", headers, body })).status).toBe(201);
      before.kill("SIGKILL");
      await before.exited;
    }
    // Less than a segment of the journal needs: 2000 blocks of 512 bytes.
    const options = { folder: folder.path, ...limitable("ulimit -S -f 2000;") };
    await using program = await startProgram({ METRICS_PORT: "0" }, options);
    const ready = async () =>
      ((await (await program.fetch("/readyz")).json()) as { message: string }).message;
    const untilJournal = async (up: 0 | 1) =>
      scrapeUntil(
        await addressOf(program),
        `the journal is ${up}`,
        (now) => now.of("curt_journal_up") === up,
      );
    await untilLogged(program, "visits are not counted: ");
    for (let nth = 0; nth < 3; nth++) await visit(program, "kept");
    expect(await ready()).toBe("ready, but visits are not counted");
    await untilJournal(0);

    // A limited link may not redirect without counting.
    limitFileSize(program.pid, 4096n);
    program.expectFaults();
    for (let nth = 0; nth < 3; nth++) {
      const refused = await program.fetch("/once");
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "2"]);
    }
    await visit(program, "kept");

    limitFileSize(program.pid, 0xffff_ffff_ffff_ffffn);
    await untilLogged(program, "visits are counted again");
    await visit(program, "kept");
    await untilCounted(program, "kept", 1);
    expect(await ready()).toBe("ready");
    await untilJournal(1);
    expect((await program.fetch("/once")).status).toBe(302);
    expect((await program.fetch("/once")).status).toBe(410);
  },
);

testOnLinux(
  "a stop after a full disk keeps the log's files, for which the next start might lack room",
  async () => {
    using folder = temporaryFolder();
    const program = await startProgram({}, { folder: folder.path, ...limitable() });
    program.expectFaults();
    limitFileSize(program.pid, 4096n);
    expect((await program.shorten({ original_url })).status).toBe(503);
    limitFileSize(program.pid, 0xffff_ffff_ffff_ffffn);
    await program[Symbol.asyncDispose]();
    for (const file of [`${program.file}-wal`, `${program.file}-shm`]) expect(existsSync(file)).toBe(true);
    await using next = await startProgram({}, { folder: folder.path });
    expect((await next.shorten({ original_url })).status).toBe(201);
  },
);

/** A file system of a few megabytes, in a namespace of its own that ends with it. `run` is the start of commands in it. */
async function mountSmallDisk(folder: string) {
  mkdirSync(folder);
  const mount = `mount -t tmpfs -o size=3m tmpfs "$0" && echo mounted && exec cat`;
  const holder = Bun.spawn(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, folder], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const { value } = await holder.stdout.getReader().read();
  expect(new TextDecoder().decode(value)).toBe("mounted\n");
  const inside = `/proc/${holder.pid}/root${folder}`;
  return {
    run: ["nsenter", "--preserve-credentials", "--user", "--mount", `--target=${holder.pid}`],
    /** Fills all free space. */
    fill(name: string) {
      const { exitCode } = Bun.spawnSync(["dd", "if=/dev/zero", `of=${inside}/${name}`, "bs=1k"], {
        stderr: "ignore",
      });
      expect(exitCode).not.toBe(0);
      expect(statfsSync(inside).bavail).toBe(0);
    },
    release(name: string, kib: number) {
      const file = `${inside}/${name}`;
      truncateSync(file, statSync(file).size - kib * 1024);
    },
    async [Symbol.asyncDispose]() {
      holder.kill();
      await holder.exited;
    },
  };
}

testOnLinux(
  "a stop of two processes keeps the log's files on a nearly full disk, even if no write has failed",
  async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "disk");
    await using disk = await mountSmallDisk(path);
    const settings = { PROCESSES: "2", DATABASE_URL: `sqlite:${path}/curt.db`, DATA_DIR: folder.path };
    const options = { command: [...disk.run, process.execPath, PROGRAM, "serve"], folder: folder.path };
    const program = await startProgram(settings, options);
    program.expectFaults();
    expect((await program.shorten({ original_url, custom_code: "kept" })).status).toBe(201);
    disk.fill("first");
    // Enough for the stop itself, so that no write fails.
    disk.release("first", 256);
    await program[Symbol.asyncDispose]();
    disk.fill("second");
    await using next = await startProgram(settings, options);
    next.expectFaults();
    expect((await next.fetch("/kept")).status).toBe(302);
  },
);

testOnLinux(
  "a start without room for the log reports how much room it needs, and that much suffices",
  async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "disk");
    await using disk = await mountSmallDisk(path);
    const settings = { DATABASE_URL: `sqlite:${path}/curt.db`, DATA_DIR: folder.path };
    const options = { command: [...disk.run, process.execPath, PROGRAM, "serve"], folder: folder.path };
    {
      await using before = await startProgram(settings, options);
      expect((await before.shorten({ original_url, custom_code: "kept" })).status).toBe(201);
    }
    disk.fill("filler");
    const refused = Bun.spawnSync(options.command, {
      env: { ...process.env, ...settings, PORT: "0", BASE_URL: original_url },
    });
    expect(refused.stderr.toString()).toContain(
      `curt.db cannot be opened: the disk is full. Make room: opening it needs at least ${OPENING_KIB} KiB.`,
    );
    disk.release("filler", OPENING_KIB);
    await using next = await startProgram(settings, options);
    next.expectFaults();
    expect((await next.fetch("/kept")).status).toBe(302);
  },
);

for (const processes of ["1", "2"])
  test(`PROCESSES=${processes}: a full disk under load loses no confirmed link, and few lines of the log report many faults`, async () => {
    await using program = await startProgram({ PROCESSES: processes }, limitable());
    const close = { Connection: "close" };
    const statuses = async (count: number, send: (nth: number) => Promise<Response>) =>
      new Set(
        (await Promise.all(Array.from({ length: count }, (_, nth) => send(nth)))).map((it) => it.status),
      );
    const create = (name: string) => (nth: number) =>
      program.shorten({ original_url, custom_code: `${name}${nth}` }, close);
    const follow = (name: string) => (nth: number) => program.fetch(`/${name}${nth}`, { headers: close });
    expect(await statuses(50, create("before"))).toEqual(new Set([201]));
    const line = program.logged.find((logged) => logged.includes("listens on"));
    const { children } = JSON.parse(line ?? "{}") as { children?: number[] };
    const pids = children ?? [program.pid];
    program.expectFaults();
    for (const pid of pids) limitFileSize(pid, 4096n);
    const linesBefore = program.logged.length;
    for (let round = 0; round < 5; round++) {
      expect(await statuses(50, create("during"))).toEqual(new Set([503]));
      expect(await statuses(50, follow("before"))).toEqual(new Set([302]));
      expect(await statuses(50, follow("during"))).toEqual(new Set([404]));
    }
    // There were 250 faults. Every five seconds, a line counts them.
    expect(program.logged.length - linesBefore).toBeLessThan(50 * pids.length);
    for (const pid of pids) limitFileSize(pid, 0xffff_ffff_ffff_ffffn);
    expect(await statuses(50, create("during"))).toEqual(new Set([201]));
    for (const name of ["before", "during"]) expect(await statuses(50, follow(name))).toEqual(new Set([302]));
  });

for (const processes of ["1", "2"])
  test(`PROCESSES=${processes}: while the file is locked, creates get 503 and redirects don't wait, and creates work again afterwards`, async () => {
    await using curt = await startProgram({ PROCESSES: processes });
    curt.expectFaults();
    const close = { Connection: "close" };
    const create = (name: string) =>
      Promise.all(
        Array.from({ length: 20 }, async (_, nth) => {
          const custom_code = `${name}${nth}`;
          return (await curt.shorten({ original_url, custom_code }, close)).status;
        }),
      );
    const all = (status: number) => Array.from({ length: 20 }, () => status);
    expect(await create("before")).toEqual(all(201));
    const locking = new Database(curt.file);
    locking.run("BEGIN IMMEDIATE");
    const refused = create("during");
    for (let nth = 0; nth < 20; nth++) {
      expect((await curt.fetch(`/before${nth}`, { headers: close })).status).toBe(302);
      expect((await curt.fetch(`/during${nth}`, { headers: close })).status).toBe(404);
    }
    expect(await refused).toEqual(all(503));
    locking.run("ROLLBACK");
    locking.close();
    expect(await create("during")).toEqual(all(201));
  });

test("an unreadable file causes 503 and never 404, while cached links keep redirecting", async () => {
  await using curt = await startService();
  const codes = Array.from({ length: 300 }, (_, nth) => `link${nth}`);
  for (const custom_code of codes)
    await curt.shorten({ original_url: `https://example.com/${"x".repeat(2000)}`, custom_code });
  expect((await curt.fetch("/link0")).status).toBe(302);
  const spelled = ["❤️", "각".normalize("NFD")];
  for (const custom_code of spelled) {
    await curt.shorten({ original_url, custom_code });
    expect((await curt.fetch(`/${encodeURIComponent(custom_code)}/`)).status).toBe(302);
  }
  curt.expectFaults();
  damageStore(curt.file);
  // Another connection's write makes the readers look at the file again.
  const statuses = new Set<number>();
  for (const code of codes) statuses.add((await curt.fetch(`/${code}`)).status);
  expect((await curt.fetch("/link0")).status).toBe(302);
  for (const code of spelled) expect((await curt.fetch(`/${encodeURIComponent(code)}/`)).status).toBe(302);
  expect(statuses).toEqual(new Set([302, 503]));
  const page = await curt.fetch("/link299", { headers: { Accept: "text/html", "Accept-Language": "ko" } });
  expect([page.status, page.headers.get("retry-after")]).toEqual([503, "2"]);
  expect(await page.text()).toContain("링크는 사라지지 않았습니다");
  const code = await curt.fetch("/api/v1/codes/link299");
  expect([code.status, code.headers.get("retry-after")]).toEqual([503, "2"]);
  expect((await curt.fetch("/link299.svg")).status).toBe(503);
  expect((await curt.fetch("/readyz")).status).toBe(503);
  expect((await curt.fetch("/livez")).status).toBe(200);
  expect(curt.logged.filter((line) => line.includes("the store cannot answer")).length).toBeLessThan(30);
});
