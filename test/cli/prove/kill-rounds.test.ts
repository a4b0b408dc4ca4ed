import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { playKillRounds } from "../../../src/cli/prove/kill-rounds.ts";
import { PROGRAM, temporaryFolder } from "../../support/service.ts";

const { signal } = new AbortController();
const ROUNDS = 2;

/** Confirms links that it keeps in memory only. */
const FORGETFUL = `
const { PORT, BASE_URL } = process.env;
const links = new Map();
Bun.serve({
  port: PORT,
  hostname: "127.0.0.1",
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === "/readyz") return new Response("ready");
    if (request.method === "GET")
      return links.has(pathname) ? Response.redirect(links.get(pathname)) : new Response("", { status: 404 });
    const path = "/" + process.pid + "-" + links.size + "/";
    links.set(path, (await request.json()).original_url);
    return Response.json({ data: { short_url: BASE_URL + path } }, { status: 201 });
  },
});`;

describe("kill rounds", () => {
  test("find every confirmed link of Curt", async () => {
    using folder = temporaryFolder();
    const tally = await playKillRounds({
      program: [process.execPath, PROGRAM, "serve"],
      settings: { ...paths(), DATA_DIR: folder.path, POSTURE: "private", HOST: "127.0.0.1", PROCESSES: "2" },
      rounds: ROUNDS,
      signal,
    });
    expect(tally.confirmed).toBeGreaterThan(0);
    expect(tally).toEqual({ confirmed: tally.confirmed, found: tally.confirmed, lost: [] });
  });

  test("don't find links that a service only keeps in memory", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "forgetful.ts");
    writeFileSync(file, FORGETFUL);
    const program = [process.execPath, file];
    const tally = await playKillRounds({ program, settings: paths(), rounds: ROUNDS, signal });
    expect(tally.confirmed).toBeGreaterThan(0);
    expect(tally.found).toBe(0);
    expect(tally.lost[0]).toMatch(/^\/\d+-\d+\/ to https:\/\/example\.com\/0\/\d\/\d+: status 404$/);
  });

  test("say why the service doesn't start", async () => {
    const program = [process.execPath, PROGRAM, "serve"];
    const settings = { ...paths(), POSTURE: "closed" };
    expect(playKillRounds({ program, settings, rounds: ROUNDS, signal })).rejects.toThrow(
      "POSTURE must be auto, public or private",
    );
  });
});

function paths(): { PATH: string } {
  return { PATH: process.env["PATH"] ?? "" };
}
