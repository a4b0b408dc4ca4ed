import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { createLargeStore, SEVERAL_STEPS, start, stopHalfway } from "../../backup/interruptions.ts";
import { runCommand as run } from "../../cli/commands.ts";
import { type Program, startProgram, temporaryFolder } from "../../support/service.ts";
import { linkOf, visit } from "../../visits/visits.ts";

/** `ROUNDS=20 npm test -- test/endurance/backup/drill.test.ts` makes more backups. Lost visits and double counts are rare. */
const ROUNDS = Number(process.env["ROUNDS"] ?? 3);
const CREATING = 4;
const VISITING = 4;
/** Pause between two requests of a client: a backup gives way to requests, and must finish. */
const PAUSE_MS = 5;
const VISITED = Array.from({ length: 40 }, (_, nth) => `visited${nth}`);

/** The confirmed links and visits. */
interface Confirmed {
  readonly codes: Map<string, string>;
  /** For each link: confirmed visits, and sent ones. */
  readonly answered: number[];
  readonly sent: number[];
}

/** Creates links and visits them, until the program is gone. */
async function load(program: Program, { codes, answered, sent }: Confirmed): Promise<void> {
  const life = new AbortController();
  void program.exited.then(() => life.abort());
  const creates = Array.from({ length: CREATING }, async (_, client) => {
    for (let nth = 0; !life.signal.aborted; nth++) {
      const custom_code = `링크-${client}-${nth}`;
      const original_url = `https://example.com/${client}/${nth}`;
      const response = await program.shorten({ original_url, custom_code }).catch(() => undefined);
      if (response?.status === 201) codes.set(custom_code, original_url);
      await Bun.sleep(PAUSE_MS);
    }
  });
  const visits = Array.from({ length: VISITING }, async (_, client) => {
    for (let nth = client; !life.signal.aborted; nth = (nth + VISITING) % VISITED.length) {
      sent[nth] = (sent[nth] ?? 0) + 1;
      await visit(program, VISITED[nth] ?? "").then(
        () => (answered[nth] = (answered[nth] ?? 0) + 1),
        () => {},
      );
      await Bun.sleep(PAUSE_MS);
    }
  });
  await Promise.all([...creates, ...visits]);
}

test(`${ROUNDS} backups under load, each restored elsewhere, have everything that was confirmed before`, async () => {
  using folder = temporaryFolder();
  await createLargeStore(join(folder.path, "curt.db"), SEVERAL_STEPS);
  const program = await startProgram({ PROCESSES: "2" }, { folder: folder.path });
  const settings = { DATABASE_URL: program.databaseUrl };
  for (const custom_code of VISITED)
    await program.shorten({ original_url: "https://example.com/", custom_code });
  const confirmed: Confirmed = {
    codes: new Map(),
    answered: VISITED.map(() => 0),
    sent: VISITED.map(() => 0),
  };
  const loading = load(program, confirmed);
  const backups = [];
  for (let round = 0; round < ROUNDS; round++) {
    const file = join(folder.path, `backup${round}`);
    const enough = confirmed.codes.size + 100;
    while (confirmed.codes.size < enough) await Bun.sleep(5);
    const before = { codes: new Map(confirmed.codes), answered: [...confirmed.answered] };
    const result = await run(["backup", file], settings);
    expect([result.code, result.stderr]).toEqual([0, ""]);
    backups.push({ file, ...before, sent: [...confirmed.sent] });
  }
  // The last backup is cut off, and then the machine is lost.
  const halfway = stopHalfway(folder.path);
  const cut = start(["backup", join(folder.path, "cut")], settings, halfway.options);
  await halfway.untilStopped();
  cut.kill("SIGKILL");
  program.kill("SIGKILL");
  await Promise.all([cut.exited, loading]);
  program.expectFaults();
  await program[Symbol.asyncDispose]();
  expect(existsSync(join(folder.path, "cut"))).toBe(false);

  for (const { file, codes, answered, sent } of backups) {
    using elsewhere = temporaryFolder();
    const DATABASE_URL = `sqlite:${elsewhere.path}/curt.db`;
    expect(await run(["restore", file], { DATABASE_URL })).toMatchObject({ code: 0, stderr: "" });
    expect(await run(["check"], { DATABASE_URL })).toMatchObject({ code: 0, stderr: "" });
    await using restored = await startProgram({ DATABASE_URL }, { folder: elsewhere.path });
    for (const [nth, code] of VISITED.entries()) {
      const { visits } = (await linkOf(restored, code)) as { visits: number };
      const isRight = visits >= (answered[nth] ?? 0) && visits <= (sent[nth] ?? 0);
      expect([code, visits, answered[nth], sent[nth], isRight]).toContain(true);
    }
    for (const [code, target] of codes) {
      const response = await restored.fetch(`/${encodeURIComponent(code)}`);
      expect([code, response.status, response.headers.get("location")]).toEqual([code, 302, target]);
    }
  }
});
