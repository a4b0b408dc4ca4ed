import { describe, expect, test } from "bun:test";

import type { KnownHosts } from "../../src/moderation/moderation-store.ts";
import { ENGINES } from "../events/engines.ts";
import { createManagedLink } from "../support/managed-links.ts";
import { type Settings, startService, temporaryFolder, toDomain } from "../support/service.ts";

const [OLD, NEW] = ["old.example", "new.example"];
const target = "https://example.com/";
const REMOVED = "no longer in DOMAINS";

describe.each(ENGINES)("a domain that moves over %s", (_, settingsOf) => {
  async function openInstance() {
    const folder = temporaryFolder();
    const own = { ...(await settingsOf()), DATA_DIR: folder.path };
    const logged: string[] = [];
    return {
      /** Starts with these settings, creates a link with each code, and stops. Resolves with the error of a refused start. */
      async start(settings: Settings, ...codes: string[]): Promise<string | undefined> {
        logged.length = 0;
        try {
          await using curt = await startService({ ...own, ...settings }, { folder: folder.path, logged });
          for (const code of codes) await createManagedLink(curt, { target, code });
        } catch (error) {
          return String(error);
        }
        return undefined;
      },
      /** The same for a link at another domain. */
      async createAt(host: string, settings: Settings, code: string): Promise<void> {
        await using curt = await startService({ ...own, ...settings }, { folder: folder.path });
        await createManagedLink(toDomain(curt, host), { target, code });
      },
      logged,
      [Symbol.dispose]: folder[Symbol.dispose],
    };
  }
  const at = (base: string, DOMAINS = "") => ({
    BASE_URL: `https://${base}`,
    DOMAINS: DOMAINS && `https://${DOMAINS}`,
  });

  test("is refused in DOMAINS while its links belong to BASE_URL, at every attempt and after other starts", async () => {
    using instance = await openInstance();
    expect(await instance.start(at(OLD), "one")).toBeUndefined();
    for (const between of [undefined, undefined, at(NEW), at(NEW)]) {
      if (between !== undefined) expect(await instance.start(between)).toBeUndefined();
      const refusal = await instance.start(at(NEW, OLD));
      expect(refusal).toContain(`DOMAINS must not have ${OLD}`);
      expect(refusal).toContain(`Set ALIASES=${OLD} instead`);
    }
    expect(await instance.start({ ...at(NEW), ALIASES: OLD })).toBeUndefined();
    expect(await instance.start(at(OLD))).toBeUndefined();
  });

  test("is accepted in DOMAINS if no link was created while it was BASE_URL, or if it has links of its own", async () => {
    using instance = await openInstance();
    expect(await instance.start(at(OLD))).toBeUndefined();
    expect(await instance.start(at(NEW, OLD))).toBeUndefined();
    expect(await instance.start(at(NEW), "one")).toBeUndefined();
    expect(await instance.start(at(OLD))).toBeUndefined();
    expect(await instance.start(at(NEW, OLD))).toBeUndefined();
    await instance.createAt(OLD, at(NEW, OLD), "own");
    expect(await instance.start(at(OLD), "two")).toBeUndefined();
    expect(await instance.start(at(NEW, OLD))).toBeUndefined();
  });

  test("causes a warning at each start after it left DOMAINS, while the store has its links", async () => {
    using instance = await openInstance();
    await instance.start(at(NEW, OLD));
    await instance.start(at(NEW));
    expect(instance.logged.filter((line) => line.includes(REMOVED))).toEqual([]);
    await instance.createAt(OLD, at(NEW, OLD), "own");
    for (let starts = 0; starts < 2; starts++) {
      await instance.start(at(NEW));
      const lines = instance.logged.filter((line) => line.includes(REMOVED));
      expect(lines.map((line) => (JSON.parse(line) as { hosts: KnownHosts["removed"] }).hosts)).toEqual([
        [OLD],
      ]);
    }
    await instance.start(at(NEW, OLD));
    expect(instance.logged.filter((line) => line.includes(REMOVED))).toEqual([]);
  });
});
