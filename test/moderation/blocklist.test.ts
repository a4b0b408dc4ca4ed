import { describe, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { readConfig } from "../../src/config/config.ts";
import { createLog } from "../../src/lib/log.ts";
import { openBlocklists } from "../../src/moderation/blocklist/configured-lists.ts";
import { feedFile } from "../../src/moderation/blocklist/feeds.ts";
import { children } from "../server/processes.ts";
import {
  BASE_URL,
  type RunningService,
  startService,
  startProgram,
  temporaryFolder,
  untilLogged,
} from "../support/service.ts";

const POLLS = { listPollMs: 20 };
const LIMITS = { blocklists: POLLS };
const TARGET = "https://www.evil.example/offer";

function listIn(folder: string, ...lines: readonly string[]): string {
  const path = join(folder, "list.txt");
  writeFileSync(path, lines.map((line) => `${line}\n`).join(""));
  return path;
}

/** Renames a new file over the old one, as editors and downloads do. */
function replace(path: string, ...lines: readonly string[]): void {
  writeFileSync(`${path}.new`, lines.map((line) => `${line}\n`).join(""));
  renameSync(`${path}.new`, path);
}

async function createLink(service: RunningService, customCode: string, originalUrl = TARGET): Promise<void> {
  const { status } = await service.shorten({ original_url: originalUrl, custom_code: customCode });
  expect(status).toBe(201);
}

async function untilStatus(service: RunningService, path: string, status: number): Promise<Response> {
  for (;;) {
    const response = await service.fetch(path);
    if (response.status === status) return response;
    await Bun.sleep(5);
  }
}

const hosts = (count: number) => Array.from({ length: count }, (_, nth) => `host-${nth}.example`);

describe("a blocklist", () => {
  test("refuses new links to its hosts with a message, and disables existing ones with 410", async () => {
    using folder = temporaryFolder();
    {
      await using before = await startService({ POSTURE: "private" }, { folder: folder.path });
      await createLink(before, "old");
    }
    const list = listIn(folder.path, "# mine", "evil.example", "https://good.example/bad");
    await using service = await startService({ BLOCKLIST: list }, { folder: folder.path });
    const refused = await service.shorten({ original_url: "https://EVIL.example.:8443/x" });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toEqual({
      status: "error",
      message: "original_url: Links to evil.example are blocked on this service.",
    });
    expect((await service.shorten({ original_url: "https://good.example/bad?x" })).status).toBe(400);
    expect((await service.shorten({ original_url: "https://good.example/" })).status).toBe(201);
    const gone = await service.fetch("/old");
    expect(gone.status).toBe(410);
    expect(gone.headers.get("cache-control")).toBe("no-store");
    expect(await gone.json()).toEqual({
      status: "error",
      message: "This link was disabled because its destination is on a blocklist of dangerous sites.",
    });
    // Another thread renders the preview.
    expect((await service.fetch("/old+")).status).toBe(410);
  });

  test("takes effect for cached links when its file changes", async () => {
    using folder = temporaryFolder();
    const list = listIn(folder.path, "worse.example");
    await using service = await startService({ BLOCKLIST: list }, { folder: folder.path, limits: LIMITS });
    await createLink(service, "one");
    expect((await service.fetch("/one")).status).toBe(302);
    expect((await service.fetch("/one+")).status).toBe(200);
    appendFileSync(list, "evil.example\n");
    await untilStatus(service, "/one", 410);
    await untilStatus(service, "/one+", 410);
    replace(list, "worse.example");
    await untilStatus(service, "/one", 302);
    await untilStatus(service, "/one+", 200);
  });

  test("takes effect in every process", async () => {
    using folder = temporaryFolder();
    const list = listIn(folder.path, "worse.example");
    await using service = await startProgram(
      { BLOCKLIST: list, PROCESSES: "3" },
      { folder: folder.path, roundMs: 100 },
    );
    await createLink(service, "one");
    replace(list, "worse.example", "evil.example");
    const linesInEffect = () =>
      service.logged.filter(
        (line) => line.includes("a blocklist is in effect") && line.includes('"rules":2'),
      );
    while (linesInEffect().length < 3) await Bun.sleep(20);
    // Each request has its own connection, which any process may get.
    for (let nth = 0; nth < 30; nth++) {
      const { status } = await service.fetch("/one", { headers: { Connection: "close" } });
      expect(status).toBe(410);
    }
  });

  for (const [what, signal] of [
    ["a replacement process", "SIGKILL"],
    ["new processes that take over", "SIGUSR2"],
  ] as const)
    test(`keeps its rules after its file broke, even in ${what}`, async () => {
      using folder = temporaryFolder();
      const list = listIn(folder.path, ...hosts(39), "evil.example");
      await using service = await startProgram(
        { BLOCKLIST: list, PROCESSES: "2" },
        { folder: folder.path, roundMs: 100 },
      );
      const doubts = () => service.logged.filter((line) => line.includes("looks broken"));
      writeFileSync(list, "");
      while (doubts().length < 2) await Bun.sleep(20);
      if (signal === "SIGUSR2") service.kill(signal);
      else {
        const [child] = children(service);
        if (child === undefined) throw new Error("No child has listened yet");
        process.kill(child, signal);
      }
      await untilLogged(
        service,
        signal === "SIGUSR2" ? "the old processes have ended" : "another process replaced it",
      );
      // Each request has its own connection, which either process may get.
      for (let nth = 0; nth < 40; nth++) {
        const headers = { Connection: "close" };
        expect((await service.shorten({ original_url: TARGET }, headers)).status).toBe(400);
      }
      // The new processes also log it.
      while (doubts().length < (signal === "SIGUSR2" ? 4 : 3)) await Bun.sleep(20);
    });

  test("keeps its rules in later processes if its file breaks, until a restart reads the file as it is", async () => {
    using folder = temporaryFolder();
    const list = listIn(folder.path, ...hosts(39), "evil.example");
    const openLists = async (openElsewhere?: readonly string[]) => {
      const config = readConfig({ BLOCKLIST: list, BASE_URL, DATA_DIR: folder.path });
      const blocklists = await openBlocklists(
        { ...config, openElsewhere },
        createLog("error", process.stdout),
        {},
        () => {},
      );
      await blocklists.close();
      return blocklists.figures();
    };
    expect(await openLists()).toMatchObject({ rules: 40, doubted: 0 });
    replace(list);
    expect(await openLists([])).toMatchObject({ rules: 40, doubted: 1 });
    rmSync(list);
    expect(await openLists([])).toMatchObject({ rules: 40, doubted: 1 });
    replace(list);
    expect(await openLists()).toMatchObject({ rules: 0, doubted: 0 });
    expect(await openLists([])).toMatchObject({ rules: 0, doubted: 0 });
  });

  for (const [what, breakIt, reason] of [
    ["is missing", (list: string) => rmSync(list), "it does not exist"],
    ["is empty", (list: string) => replace(list), "it has no rules any more, and had 40"],
    [
      "has lost most of its rules",
      (list: string) => replace(list, ...hosts(19)),
      "it has only 19 rules, and had 40",
    ],
    [
      "was only written in part",
      (list: string) => writeFileSync(list, hosts(39).join("\n").slice(0, -5)),
      "its last line has no end, and it has 39 rules instead of 40",
    ],
    ["is a page of HTML", (list: string) => replace(list, "<html>", "<p>Moved"), "it has no rules any more"],
    ["is an archive", (list: string) => replace(list, "PK\0\0"), "it is not text"],
  ] as const)
    test(`keeps its rules and warns once if its file ${what}`, async () => {
      using folder = temporaryFolder();
      const list = listIn(folder.path, ...hosts(39), "evil.example");
      await using service = await startService({ BLOCKLIST: list }, { folder: folder.path, limits: LIMITS });
      breakIt(list);
      await untilLogged(service, "a blocklist looks broken");
      expect((await service.shorten({ original_url: TARGET })).status).toBe(400);
      const doubts = () => service.logged.filter((line) => line.includes("looks broken"));
      expect(doubts()).toEqual([expect.stringContaining(reason)]);
      replace(list, ...hosts(45));
      await untilLogged(service, '"rules":45');
      expect((await service.shorten({ original_url: TARGET })).status).toBe(201);
      expect(doubts()).toHaveLength(1);
    });

  test("isn't read while its file grows", async () => {
    using folder = temporaryFolder();
    const list = listIn(folder.path, ...hosts(3));
    const limits = { blocklists: { listPollMs: 400 } };
    await using service = await startService({ BLOCKLIST: list }, { folder: folder.path, limits });
    for (let nth = 0; nth < 6; nth++) {
      appendFileSync(list, `more-${nth}.example\n`);
      await Bun.sleep(130);
    }
    await untilLogged(service, '"rules":9');
    const read = service.logged.filter((line) => line.includes("a blocklist is in effect"));
    expect(read).toHaveLength(2);
  });

  test("is read again if a file of the same size and time replaces its file", async () => {
    using folder = temporaryFolder();
    const list = listIn(folder.path, "good.example");
    utimesSync(list, 1e9, 1e9);
    await using service = await startService({ BLOCKLIST: list }, { folder: folder.path, limits: LIMITS });
    writeFileSync(`${list}.new`, "evil.example\n");
    utimesSync(`${list}.new`, 1e9, 1e9);
    renameSync(`${list}.new`, list);
    while ((await service.shorten({ original_url: TARGET })).status !== 400) await Bun.sleep(5);
  });

  test("must be a readable file at the start", async () => {
    using folder = temporaryFolder();
    const error = await startService({ BLOCKLIST: `/nowhere/a,${folder.path}` }).catch(
      (mistakes) => mistakes,
    );
    expect(error).toMatchObject({
      mistakes: [
        expect.stringMatching(
          /^BLOCKLIST must be files that can be read, not \/nowhere\/a: it does not exist$/,
        ),
        expect.stringMatching(new RegExp(`^BLOCKLIST must be .*, not ${folder.path}: it is not a file`)),
      ],
    });
  });
});

test("an unreadable list of a feed doesn't prevent the start", async () => {
  using folder = temporaryFolder();
  const config = { ...readConfig({ DATA_DIR: folder.path }), blocklistFeeds: ["https://lists.example/"] };
  mkdirSync(feedFile(config.listFolder, "https://lists.example/"), { recursive: true });
  const lists = await openBlocklists(config, createLog("error", process.stdout), POLLS, () => {});
  expect(lists.isBlocked(TARGET)).toBeFalse();
  await lists.close();
});

test("the list of a feed takes effect once it is fetched, and at the next start", async () => {
  using folder = temporaryFolder();
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("evil.example\n") });
  const config = {
    ...readConfig({ DATABASE_URL: `sqlite:${join(folder.path, "curt.db")}` }),
    blocklistFeeds: [server.url.href],
  };
  const log = createLog("error", process.stdout);
  const openLists = () =>
    openBlocklists(config, log, POLLS, (error) => {
      throw error;
    });
  const lists = await openLists();
  expect(lists.isBlocked(TARGET)).toBeFalse();
  const { promise: changed, resolve: change } = Promise.withResolvers<void>();
  lists.onChange(change);
  lists.startFeeds(Date.now);
  await changed;
  expect(lists.isBlocked(TARGET)).toBeTrue();
  await lists.close();
  await server.stop(true);
  const reopened = await openLists();
  expect(reopened.isBlocked(TARGET)).toBeTrue();
  await reopened.close();
});

describe("links to other shorteners", () => {
  test("are refused in public posture, but existing ones redirect", async () => {
    using folder = temporaryFolder();
    {
      await using before = await startService({ POSTURE: "private" }, { folder: folder.path });
      await createLink(before, "old", "https://bit.ly/x");
    }
    await using service = await startService({ BASE_URL }, { folder: folder.path });
    const refused = await service.shorten({ original_url: "https://Bit.ly/x" });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toEqual({
      status: "error",
      message:
        "original_url: bit.ly is another URL shortener, which would hide the link's destination. Enter the final address.",
    });
    const form = await service.fetch("/", {
      method: "POST",
      body: new URLSearchParams({ original_url: "https://bit.ly/x" }),
      headers: { Accept: "text/html" },
    });
    expect(form.status).toBe(400);
    expect(await form.text()).toContain("bit.ly is another URL shortener");
    expect((await service.fetch("/old")).headers.get("location")).toBe("https://bit.ly/x");
  });

  test("are created in private posture", async () => {
    await using service = await startService({ POSTURE: "private" });
    await createLink(service, "chain", "https://bit.ly/x");
  });
});
