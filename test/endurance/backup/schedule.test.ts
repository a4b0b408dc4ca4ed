import { expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";

import { createLargeStore, SEVERAL_STEPS, stopHalfway } from "../../backup/interruptions.ts";
import { runCommand as run } from "../../cli/commands.ts";
import { addressOf, scrapeUntil } from "../../metrics/scrape.ts";
import { testOnLinux } from "../../support/linux.ts";
import { roundsOf } from "../../support/preloads.ts";
import {
  PROGRAM,
  type RunningService,
  type Settings,
  startProgram,
  temporaryFolder,
  untilLogged,
} from "../../support/service.ts";

const TRACER = join(import.meta.dir, "hanging-folder.ts");
const BACKUP_LOGGED = "a backup was created";
/** Starts a program that keeps its backups in the folder `backups`. */
const start = (folder: string, more: Settings = {}) =>
  startProgram({ BACKUP_DIR: join(folder, "backups"), ...more }, { folder, roundMs: 20 });

const linesWith = ({ logged }: RunningService, text: string) => logged.filter((line) => line.includes(text));

async function untilBackups(curt: RunningService, times: number): Promise<void> {
  while (linesWith(curt, BACKUP_LOGGED).length < times) await Bun.sleep(10);
}

const filesOf = (curt: RunningService) =>
  linesWith(curt, BACKUP_LOGGED).map((line) => (JSON.parse(line) as { file: string }).file);

/** Puts a file in the place of a folder. Curt may make the folder again before the file is there. */
function replaceByFile(folder: string): void {
  for (let nth = 0; !existsSync(folder) || statSync(folder).isDirectory(); nth++) {
    if (existsSync(folder)) renameSync(folder, `${folder}-aside${nth}`);
    try {
      writeFileSync(folder, "no folder", { flag: "wx" });
    } catch {}
  }
}

/** Creates a store and a first backup. Returns the start of its backups' names. */
async function createFirstBackup(folder: string): Promise<string> {
  await using curt = await start(folder);
  expect((await curt.shorten({ original_url: "https://example.com/" })).status).toBe(201);
  await untilBackups(curt, 1);
  const [file = ""] = filesOf(curt);
  rmSync(file);
  return basename(file).replace(/\d{8}T\d{6}Z\.db$/, "");
}

test("BACKUP_DIR keeps the newest backups, and other files in it stay", async () => {
  using folder = temporaryFolder();
  const backups = join(folder.path, "backups");
  const stem = await createFirstBackup(folder.path);
  expect(stem).toMatch(/^curt-[0-9a-f]{8}-$/);
  const others = [
    `${stem}20200101T000000Z.db.txt`,
    `${stem}notes.db`,
    "curt-20200101T000000Z.db",
    "curt-00000000-20200101T000000Z.db",
    "curt-00000000-20200101T000000Z.db.part",
  ];
  for (const name of others) writeFileSync(join(backups, name), "mine");
  const named = `${stem}20200103T000000Z.db`;
  mkdirSync(join(backups, named));
  writeFileSync(join(backups, named, "file"), "mine");
  symlinkSync(join(backups, named), join(backups, `${stem}20200104T000000Z.db`));
  // Like after a kill during a backup.
  writeFileSync(join(backups, `${stem}20200101T000000Z.db.part`), "");
  writeFileSync(join(backups, `${stem}20200101T000000Z.db`), "old");
  {
    await using curt = await start(folder.path, { BACKUP_EVERY: "1s", BACKUP_KEEP: "2", PROCESSES: "2" });
    await untilBackups(curt, 4);
    const files = filesOf(curt);
    // Only one process makes backups.
    expect(new Set(files).size).toBe(files.length);
  }
  const kept = readdirSync(backups).filter((name) => name.startsWith(`${stem}202`) && name.endsWith("Z.db"));
  // Two backups, the folder, the link, and a backup just before the stop.
  expect(kept.length).toBeLessThanOrEqual(5);
  for (const name of [...others, named, `${stem}20200104T000000Z.db`])
    expect(readdirSync(backups)).toContain(name);
  expect(readdirSync(join(backups, named))).toEqual(["file"]);
  expect(readdirSync(backups)).not.toContain(`${stem}20200101T000000Z.db.part`);
  expect(readdirSync(backups)).not.toContain(`${stem}20200101T000000Z.db`);
  const last = kept.toSorted().at(-1) ?? "";
  const to = `sqlite:${folder.path}/restored`;
  expect(await run(["restore", join(backups, last), "--to", to])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(" has 1 link of "),
  });
});

test("a store, its restored backup and its plain copy share a BACKUP_DIR without deleting each other's backups", async () => {
  using folder = temporaryFolder();
  const backups = join(folder.path, "backups");
  const place = (name: string) => join(folder.path, name);
  const settings = (name: string) => ({ DATABASE_URL: `sqlite:${place(name)}/curt.db` });
  {
    await using curt = await start(folder.path, settings("first"));
    await untilBackups(curt, 1);
    expect(await run(["restore", filesOf(curt)[0] ?? ""], settings("restored"))).toMatchObject({ code: 0 });
  }
  cpSync(place("first"), place("copied"), { recursive: true });
  // Curt refuses a journal whose store is elsewhere.
  rmSync(place("copied/curt.db-visits"), { recursive: true });
  rmSync(backups, { recursive: true });
  const stems = new Set<string>();
  for (const name of ["first", "restored", "copied"]) {
    const more = { BACKUP_EVERY: "1s", BACKUP_KEEP: "1" };
    await using curt = await start(folder.path, { ...settings(name), ...more });
    await untilBackups(curt, 2);
    for (const file of filesOf(curt)) stems.add(basename(file).slice(0, "curt-00000000".length));
  }
  expect(stems.size).toBe(3);
  for (const stem of stems) expect(readdirSync(backups).some((name) => name.startsWith(stem))).toBe(true);
});

test("backups with a future date, from a wrong clock, don't displace new ones", async () => {
  using folder = temporaryFolder();
  const backups = join(folder.path, "backups");
  const stem = await createFirstBackup(folder.path);
  const later = [`${stem}20990101T000000Z.db`, `${stem}20990102T000000Z.db`];
  for (const name of later) writeFileSync(join(backups, name), "later");
  await using curt = await start(folder.path, { BACKUP_EVERY: "1h", BACKUP_KEEP: "2" });
  await untilBackups(curt, 1);
  // Deleted a moment after the line in the log.
  while (existsSync(join(backups, `${stem}20990101T000000Z.db`))) await Bun.sleep(10);
  // Fifty rounds.
  await Bun.sleep(1000);
  const files = filesOf(curt).map((file) => basename(file));
  expect(files).toHaveLength(1);
  expect(readdirSync(backups).toSorted()).toEqual([...files, `${stem}20990102T000000Z.db`]);
});

test("a restart makes no backup before it is due", async () => {
  using folder = temporaryFolder();
  {
    await using curt = await start(folder.path, { BACKUP_EVERY: "1h" });
    await untilBackups(curt, 1);
  }
  await using curt = await start(folder.path, { BACKUP_EVERY: "1h" });
  // Fifty rounds.
  await Bun.sleep(1000);
  expect(linesWith(curt, BACKUP_LOGGED)).toEqual([]);
  expect(readdirSync(join(folder.path, "backups"))).toHaveLength(1);
});

test("a BACKUP_DIR that can't be a folder prevents the start", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "file");
  writeFileSync(file, "no folder");
  for (const BACKUP_DIR of [file, join(file, "backups")]) {
    const refused = await run(["serve"], {
      DATABASE_URL: `sqlite:${folder.path}/curt.db`,
      PORT: "0",
      BASE_URL: "http://localhost",
      BACKUP_DIR,
    });
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toStartWith(
      `curt: BACKUP_DIR must be a folder that Curt can write to, not ${BACKUP_DIR}: `,
    );
  }
  expect(readdirSync(folder.path)).toEqual(["file"]);
});

test("two servers of one store don't start the same backup", async () => {
  using folder = temporaryFolder();
  const [backups, starts, end] = ["backups", "starts", "end"].map((name) => join(folder.path, name)) as [
    string,
    string,
    string,
  ];
  const module = join(folder.path, "wait.ts");
  writeFileSync(
    module,
    `import { appendFileSync, existsSync } from "node:fs";
     if (process.argv.includes("backup")) {
       appendFileSync(${JSON.stringify(starts)}, "x");
       while (!existsSync(${JSON.stringify(end)})) Bun.sleepSync(5);
     }`,
  );
  const started = () => (existsSync(starts) ? statSync(starts).size : 0);
  const options = { folder: folder.path, bunOptions: ["--preload", module], roundMs: 20 };
  await using first = await startProgram({ BACKUP_DIR: backups }, options);
  while (started() === 0) await Bun.sleep(5);
  await using second = await startProgram({ BACKUP_DIR: backups }, options);
  // The second server creates the folder at each check for due backups. Its second check starts after the end of the first.
  for (let checks = 0; checks < 2; checks++) {
    rmSync(backups, { recursive: true, force: true });
    while (!existsSync(backups) && started() < 2) await Bun.sleep(5);
  }
  expect(started()).toBe(1);
  writeFileSync(end, "");
  await untilBackups(first, 1);
  expect(linesWith(second, BACKUP_LOGGED)).toEqual([]);
});

test("a failing backup is logged once per reason, and so is the recovery", async () => {
  using folder = temporaryFolder();
  const backups = join(folder.path, "backups");
  await using curt = await start(folder.path, { BACKUP_EVERY: "1s" });
  await untilBackups(curt, 1);
  replaceByFile(backups);
  await untilLogged(curt, "a backup failed");
  await Bun.sleep(1500);
  // A backup in progress may fail for another reason.
  const reasons = linesWith(curt, "a backup failed").map(
    (line) => (JSON.parse(line) as { reason: string }).reason,
  );
  expect(new Set(reasons).size).toBe(reasons.length);
  renameSync(backups, join(folder.path, "aside"));
  await untilLogged(curt, "backups work again");
});

test("the metrics have the time of the newest backup and the free space of its disk", async () => {
  using folder = temporaryFolder();
  const backups = join(folder.path, "backups");
  mkdirSync(backups);
  // Backups of other stores don't count. An unreadable folder has none.
  writeFileSync(join(backups, "curt-00000000-29991231T000000Z.db"), "");
  await using curt = await start(folder.path, { METRICS_PORT: "0" });
  const address = await addressOf(curt);
  await untilBackups(curt, 1);
  const name = basename(filesOf(curt)[0] ?? "");
  const [, date, time] = /-(\d{8})T(\d{6})Z\.db$/.exec(name) ?? [];
  const scraped = await scrapeUntil(
    address,
    "there is a backup",
    (now) => now.of("curt_backup_timestamp_seconds") > 0,
  );
  expect(scraped.of('curt_disk_free_bytes{holds="backups"}')).toBeGreaterThan(0);
  const at = new Date(scraped.of("curt_backup_timestamp_seconds") * 1000)
    .toISOString()
    .replace(/[-:]|\.000/g, "");
  expect(at).toBe(`${date}T${time}Z`);
  replaceByFile(backups);
  await scrapeUntil(address, "the time is unknown", (now) =>
    now.text.includes("\ncurt_backup_timestamp_seconds 0"),
  );
});

test("a reason is logged once, even if each backup would have another name", async () => {
  using folder = temporaryFolder();
  // The name of a backup is longer than that of its store, and too long.
  const path = join(folder.path, `${"long".repeat(58)}.db`);
  const backups = join(folder.path, "backups");
  await using curt = await start(folder.path, { DATABASE_URL: `sqlite:${path}`, BACKUP_EVERY: "1s" });
  await untilLogged(curt, `a backup in ${backups} could not be created: ENAMETOOLONG`);
  // Three more tries.
  await Bun.sleep(4000);
  expect(linesWith(curt, "a backup failed")).toHaveLength(1);
});

testOnLinux("links redirect while BACKUP_DIR hangs", async () => {
  using folder = temporaryFolder();
  const backups = join(folder.path, "backups");
  mkdirSync(backups);
  const bun = [process.execPath, "--preload", roundsOf(20, folder.path)];
  const command = [process.execPath, TRACER, backups, ...bun, PROGRAM, "serve"];
  await using curt = await startProgram({ BACKUP_DIR: backups }, { command, folder: folder.path });
  const call = () => {
    try {
      return readFileSync(`${backups}.hangs`, "utf8");
    } catch {
      return "";
    }
  };
  const { status } = await curt.shorten({ original_url: "https://example.com/", custom_code: "abc" });
  expect(status).toBe(201);
  let hanging = "";
  do {
    while (call() !== "") await Bun.sleep(5);
    while (call() === "") await Bun.sleep(5);
    hanging = call();
    expect((await curt.fetch("/abc")).status).toBe(302);
    // On a busy machine, the call may have ended before the redirect. If redirects waited for it, it always would.
  } while (call() !== hanging);
});

test("a stop cancels a backup and leaves no part of it", async () => {
  using folder = temporaryFolder();
  const backups = join(folder.path, "backups");
  await createLargeStore(join(folder.path, "curt.db"), SEVERAL_STEPS);
  // The process of the backup gets these options as well.
  const halfway = stopHalfway(folder.path);
  const options = { folder: folder.path, bunOptions: halfway.options, roundMs: 20 };
  const curt = await startProgram({ BACKUP_DIR: backups }, options);
  await halfway.untilStopped();
  expect(readdirSync(backups).some((name) => name.endsWith(".part"))).toBe(true);
  await curt[Symbol.asyncDispose]();
  expect(await curt.exited).toBe(0);
  expect(readdirSync(backups)).toEqual([]);
  expect(linesWith(curt, BACKUP_LOGGED)).toEqual([]);
  expect(linesWith(curt, "a backup failed")).toEqual([]);
  rmSync(backups, { recursive: true });
});
