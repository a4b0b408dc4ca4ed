import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";

import type { TrafficResponse, TrafficRequest, Traffic } from "./traffic.ts";

/** Other processes read a change within a second, but the machine may be busy. */
const CHANGE_LIMIT_MS = 30_000;
/** Reloading a blocklist takes up to half a minute. */
const RELOAD_LIMIT_MS = 90_000;
const POLL_MS = 300;
/** Each response comes from a random process. After this many right ones in a row, all know the change. */
const RESPONSES_IN_A_ROW = 20;
const BETWEEN_LIVES_MS = 5000;
const TRIES = 5;

/** Repeats all actions of makers and the operator on one link after the other, and rewrites the blocklist. */
export async function startRotating(
  traffic: Traffic,
  { adminToken, listFile }: { adminToken: string; listFile: string },
) {
  const stopping = new AbortController();
  const done = { lives: 0, lists: 0 };

  /** Retries if the connection broke or the machine was busy. The first attempt may have succeeded, so the link may be gone. */
  async function callUntilServed(wanted: readonly number[], path: string, request: TrafficRequest) {
    for (let nth = 0; nth < TRIES; nth++) {
      const answer: TrafficResponse | undefined = await traffic.expect(
        nth === 0 ? wanted : [...wanted, 404, 410],
        path,
        request,
      );
      if (answer !== undefined && answer.status !== 503) return answer;
      await Bun.sleep(POLL_MS);
    }
    throw new Error(`${path} got no response`);
  }

  async function create(target: string) {
    const { text } = await callUntilServed([201], "/api/v1/links", { method: "POST", body: { target } });
    return (JSON.parse(text) as { data: { code: string; manage_key: string } }).data;
  }

  async function createListed(host: string) {
    const { code } = await create(`https://${host}/`);
    return { host, code };
  }

  /** Waits until every process responds like this. */
  async function untilEverywhere(
    code: string,
    status: number,
    target?: string,
    limitMs = CHANGE_LIMIT_MS,
  ): Promise<void> {
    const deadlineMs = performance.now() + limitMs;
    let last: TrafficResponse | undefined;
    for (let inARow = 0; inARow < RESPONSES_IN_A_ROW;) {
      last = await traffic.expect([302, 410], `/${code}`, { alone: true });
      const isRight = last?.status === status && (target === undefined || last.location === target);
      inARow = isRight ? inARow + 1 : 0;
      if (isRight) continue;
      if (performance.now() > deadlineMs || stopping.signal.aborted)
        throw new Error(
          `/${code} still responds ${last?.status} (${last?.location}), not ${status} (${target})`,
        );
      await Bun.sleep(POLL_MS);
    }
  }

  async function live(nth: number): Promise<void> {
    const host = `site-${nth}.example`;
    const [before, after] = [`https://${host}/first`, `https://${host}/second`];
    const { code, manage_key: bearer } = await create(before);
    const link = `/api/v1/links/${code}`;
    const decide = (method: string, path: string, body?: object) =>
      callUntilServed([200, 201], `/api/v1/admin/${path}`, { method, bearer: adminToken, body });
    await untilEverywhere(code, 302, before);
    await callUntilServed([200], link, { method: "PATCH", bearer, body: { target: after } });
    await untilEverywhere(code, 302, after);
    await decide("POST", `links/${code}/disable`, { reason: "spam" });
    await untilEverywhere(code, 410);
    await decide("POST", `links/${code}/enable`);
    await untilEverywhere(code, 302, after);
    await decide("PUT", `hosts/${host}`, { reason: "phishing" });
    await untilEverywhere(code, 410);
    await decide("DELETE", `hosts/${host}`);
    await untilEverywhere(code, 302, after);
    await callUntilServed([200], link, { method: "DELETE", bearer });
    await untilEverywhere(code, 410);
    done.lives++;
    await Bun.sleep(BETWEEN_LIVES_MS);
  }

  /** Two hosts are on the list in turns. */
  async function relist(nth: number): Promise<void> {
    const [on, off] = nth % 2 === 0 ? [first, second] : [second, first];
    writeList(listFile, on.host);
    await untilEverywhere(on.code, 410, undefined, RELOAD_LIMIT_MS);
    await untilEverywhere(off.code, 302, undefined, RELOAD_LIMIT_MS);
    const target = `https://${on.host}/new`;
    await traffic.expect([400], "/api/v1/links", { method: "POST", body: { target } });
    done.lists++;
  }

  /** Repeats a task with the next link or list, even after a failure. */
  async function repeat(task: (nth: number) => Promise<void>, from = 0, step = 1): Promise<void> {
    for (let nth = from; !stopping.signal.aborted; nth += step)
      await task(nth).catch((error: unknown) => {
        // At the end, actions in progress may fail.
        if (!stopping.signal.aborted) traffic.surprise(String(error));
      });
  }

  const [first, second] = [await createListed("listed-a.example"), await createListed("listed-b.example")];
  const tasks = [repeat(live, 0, 2), repeat(live, 1, 2), repeat(relist)];
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

/** The processes that serve, without those that create backups. */
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
