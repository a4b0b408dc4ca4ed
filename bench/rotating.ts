import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";

import type { Answered, Asked, Traffic } from "./traffic.ts";

/** Other processes learn of a change within a second; the machine may be busy. */
const CHANGE_LIMIT_MS = 30_000;
/** Reloading a blocklist takes up to half a minute. */
const RELOAD_LIMIT_MS = 90_000;
const LOOK_AGAIN_MS = 300;
/** Each comes from either process by chance. So after this many right answers in a row, both know of a change. */
const ANSWERS_IN_A_ROW = 20;
const BETWEEN_LIVES_MS = 5000;
const TRIES = 5;

/** Takes one link after the other through the actions of its maker and the operator, and rewrites the blocklist. */
export async function startRotating(
  traffic: Traffic,
  { adminToken, listFile }: { adminToken: string; listFile: string },
) {
  const stopping = new AbortController();
  const done = { lives: 0, lists: 0 };

  /** Tries again if the connection broke or the machine was busy; what was done the first time may then be gone. */
  async function insist(wanted: readonly number[], path: string, asked: Asked) {
    for (let nth = 0; nth < TRIES; nth++) {
      const answer: Answered | undefined = await traffic.expect(
        nth === 0 ? wanted : [...wanted, 404, 410],
        path,
        asked,
      );
      if (answer !== undefined && answer.status !== 503) return answer;
      await Bun.sleep(LOOK_AGAIN_MS);
    }
    throw new Error(`${path} was not answered`);
  }

  async function make(target: string) {
    const { text } = await insist([201], "/api/v1/links", { method: "POST", body: { target } });
    return (JSON.parse(text) as { data: { code: string; manage_key: string } }).data;
  }

  async function makeListed(host: string) {
    const { code } = await make(`https://${host}/`);
    return { host, code };
  }

  /** Waits until every process answers so. */
  async function settles(
    code: string,
    status: number,
    target?: string,
    limitMs = CHANGE_LIMIT_MS,
  ): Promise<void> {
    const deadlineMs = performance.now() + limitMs;
    let last: Answered | undefined;
    for (let inARow = 0; inARow < ANSWERS_IN_A_ROW;) {
      last = await traffic.expect([302, 410], `/${code}`, { alone: true });
      const isRight = last?.status === status && (target === undefined || last.location === target);
      inARow = isRight ? inARow + 1 : 0;
      if (isRight) continue;
      if (performance.now() > deadlineMs || stopping.signal.aborted)
        throw new Error(
          `/${code} still answers ${last?.status} (${last?.location}), not ${status} (${target})`,
        );
      await Bun.sleep(LOOK_AGAIN_MS);
    }
  }

  async function live(nth: number): Promise<void> {
    const host = `site-${nth}.example`;
    const [before, after] = [`https://${host}/first`, `https://${host}/second`];
    const { code, manage_key: bearer } = await make(before);
    const link = `/api/v1/links/${code}`;
    const decide = (method: string, path: string, body?: object) =>
      insist([200, 201], `/api/v1/admin/${path}`, { method, bearer: adminToken, body });
    await settles(code, 302, before);
    await insist([200], link, { method: "PATCH", bearer, body: { target: after } });
    await settles(code, 302, after);
    await decide("POST", `links/${code}/disable`, { reason: "spam" });
    await settles(code, 410);
    await decide("POST", `links/${code}/enable`);
    await settles(code, 302, after);
    await decide("PUT", `hosts/${host}`, { reason: "phishing" });
    await settles(code, 410);
    await decide("DELETE", `hosts/${host}`);
    await settles(code, 302, after);
    await insist([200], link, { method: "DELETE", bearer });
    await settles(code, 410);
    done.lives++;
    await Bun.sleep(BETWEEN_LIVES_MS);
  }

  /** Two hosts are on the list in turns. */
  async function relist(nth: number): Promise<void> {
    const [on, off] = nth % 2 === 0 ? [first, second] : [second, first];
    writeList(listFile, on.host);
    await settles(on.code, 410, undefined, RELOAD_LIMIT_MS);
    await settles(off.code, 302, undefined, RELOAD_LIMIT_MS);
    const target = `https://${on.host}/new`;
    await traffic.expect([400], "/api/v1/links", { method: "POST", body: { target } });
    done.lists++;
  }

  /** From link to link, and from list to list, whatever goes wrong with one. */
  async function again(task: (nth: number) => Promise<void>, from = 0, step = 1): Promise<void> {
    for (let nth = from; !stopping.signal.aborted; nth += step)
      await task(nth).catch((error: unknown) => {
        // At the end, nobody waits for the actions in progress.
        if (!stopping.signal.aborted) traffic.surprise(String(error));
      });
  }

  const [first, second] = [await makeListed("listed-a.example"), await makeListed("listed-b.example")];
  const tasks = [again(live, 0, 2), again(live, 1, 2), again(relist)];
  return {
    done,
    async stop() {
      stopping.abort();
      await Promise.all(tasks);
    },
  };
}

/** A file that blocks one host. Written beside and renamed, as the guide says. */
export function writeList(path: string, host: string): void {
  writeFileSync(`${path}.new`, `# the soak\n${host}\n`);
  renameSync(`${path}.new`, path);
}

/** The processes that serve, without those that make backups. */
export function servingChildren(supervisor: number): number[] {
  return readdirSync(`/proc/${supervisor}/task`)
    .flatMap((thread) => readProc(`/proc/${supervisor}/task/${thread}/children`).split(" "))
    .map(Number)
    .filter((pid) => pid > 0 && readProc(`/proc/${pid}/cmdline`).split("\0").includes("child"));
}

/** Empty if the process has just ended. */
function readProc(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
