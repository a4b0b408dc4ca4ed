import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";

import { readConfig } from "../../src/config.ts";
import { startHttps } from "../../src/https/start.ts";
import { createLog } from "../../src/log.ts";
import { freePort } from "../free-port.ts";
import { BASE_URL, startHere, startProgram, temporaryFolder, untilLogged } from "../service.ts";
import { type AcmeServer, startAcmeServer } from "./acme-server.ts";

const HOUR_MS = 3_600_000;

async function until(what: string, look: () => boolean | Promise<boolean>): Promise<void> {
  const patience = AbortSignal.timeout(60_000);
  while (!(await look())) {
    if (patience.aborted) throw new Error(`waited too long until ${what}`);
    await Bun.sleep(10);
  }
}

interface Options {
  readonly aliases?: string;
  readonly contact?: string;
  readonly firstWaitMs?: number;
}

/** Gets certificates inside this process. What it answers to http:// is at `plain`. */
function start(
  acme: AcmeServer,
  folder: string,
  { aliases = "", contact = "operator@curt.example", firstWaitMs = 50 }: Options = {},
) {
  const settings = {
    HTTPS: "auto",
    HOST: "127.0.0.1",
    PORT: "0",
    HTTP_PORT: "0",
    BASE_URL,
    ALIASES: aliases,
    CONTACT: contact,
    DATABASE_URL: `sqlite:${join(folder, "curt.db")}`,
  };
  const config = readConfig(settings);
  if (!config.https?.own) throw new Error("HTTPS=auto is not on");
  const logged: string[] = [];
  const output = { isTTY: false, writableLength: 0, on() {}, write: (line: string) => logged.push(line) };
  const https = { ...config.https, own: { ...config.https.own, directory: acme.directory } };
  const started = startHttps(config, https, createLog("debug", output as unknown as NodeJS.WriteStream), {
    firstWaitMs,
  });
  let isReady = false;
  void started.ready.then(() => (isReady = true));
  acme.httpPort = started.httpPort ?? 0;
  return {
    settings,
    logged,
    certFile: https.certFile,
    folder: https.own.folder,
    ready: started.ready,
    isReady: () => isReady,
    plain: `http://127.0.0.1:${started.httpPort}`,
    [Symbol.asyncDispose]: started.stop,
  };
}

describe("HTTPS=auto", () => {
  test("gets one certificate for all hosts and processes, and a restart needs no authority", async () => {
    using folder = temporaryFolder();
    await using acme = await startAcmeServer();
    const trusted = join(folder.path, "root.pem");
    writeFileSync(trusted, acme.root);
    acme.httpPort = await freePort();
    const settings = {
      NODE_EXTRA_CA_CERTS: trusted,
      HTTPS: "auto",
      HOST: "127.0.0.1",
      HTTP_PORT: String(acme.httpPort),
      ALIASES: "www.curt.example,10.0.0.1",
      ACME_DIRECTORY: acme.directory,
      CONTACT: "operator@curt.example",
      PROCESSES: "2",
    };
    for (const round of ["first", "restart"]) {
      if (round === "restart") acme.isDown = true;
      await using curt = await startProgram(settings, { folder: folder.path });
      for (const host of ["curt.example", "www.curt.example"]) {
        const tls = { ca: acme.root, serverName: host, checkServerIdentity: () => undefined };
        const answer = await curt.fetch("/livez", { tls, headers: { Host: host }, keepalive: false });
        expect(answer.status).toBe(200);
      }
      // Nothing is in front of it that could tell visitors apart.
      expect(curt.logged.join("")).not.toContain("count as one client");
    }
    expect(acme.issued).toEqual([["curt.example", "www.curt.example"]]);
    expect(acme.accounts.map(({ contact }) => contact)).toEqual([["mailto:operator@curt.example"]]);
    expect(acme.counts).toEqual({ orders: 1, checks: 2 });
    const [authority = ""] = readdirSync(join(folder.path, "https"));
    const kept = join(folder.path, "https", authority);
    expect(readdirSync(kept).toSorted()).toEqual(["account.pem", "attempts.json", "certificate.pem"]);
    for (const file of readdirSync(kept)) expect(statSync(join(kept, file)).mode & 0o777).toBe(0o600);
  });

  test("renews the certificate, and the service uses it", async () => {
    using folder = temporaryFolder();
    await using acme = await startAcmeServer({ isPlain: true });
    // It is renewed in some seconds, and ends in half a minute.
    Object.assign(acme, { lastMs: 90_000, ageMs: 57_000 });
    await using https = start(acme, folder.path);
    await https.ready;
    acme.isDown = true;
    const first = readFileSync(https.certFile, "utf8");
    const files = { TLS_CERT: https.certFile, TLS_KEY: https.certFile };
    await using curt = await startHere(files, { limits: { readCertificateEveryMs: 20, handoverMs: 50 } });
    Object.assign(acme, { lastMs: 12 * HOUR_MS, ageMs: 0, isDown: false });
    await untilLogged(curt, "a new certificate is in use");
    expect(readFileSync(https.certFile, "utf8")).not.toBe(first);
    const isFresh = (await curt.fetch("/livez", { tls: { rejectUnauthorized: false } })).ok;
    expect(isFresh).toBe(true);
    await Bun.sleep(500);
    expect(acme.issued).toHaveLength(2);
  });

  test("waits for the authority, longer each time, and says so to visitors", async () => {
    using folder = temporaryFolder();
    await using acme = await startAcmeServer({ isPlain: true });
    acme.isDown = true;
    await using https = start(acme, folder.path);
    const failures = () => https.logged.filter((line) => line.includes("could not get a certificate"));
    await until("it failed three times", () => failures().length >= 3);
    expect(failures()[0]).toContain("503");
    expect(https.isReady()).toBe(false);
    const answer = await fetch(`${https.plain}/abc`, { redirect: "manual" });
    expect(answer.status).toBe(503);
    expect(answer.headers.get("Retry-After")).toBe("30");
    const next = failures().map((line) => Date.parse((JSON.parse(line) as { next: string }).next));
    const [one = 0, two = 0, three = 0] = next;
    expect(two - one).toBeGreaterThanOrEqual(100);
    expect(three - two).toBeGreaterThanOrEqual(200);
    acme.isDown = false;
    await https.ready;
    expect((await fetch(`${https.plain}/abc`, { redirect: "manual" })).status).toBe(308);
  });

  test("asks no sooner than the authority allows, after a restart neither", async () => {
    using folder = temporaryFolder();
    await using acme = await startAcmeServer({ isPlain: true });
    acme.refusedForSeconds = 3600;
    for (let round = 0; round < 3; round++) {
      await using https = start(acme, folder.path, { firstWaitMs: 1 });
      const told = round === 0 ? "too many orders" : "is asked later";
      await until(`it says ${told}`, () => https.logged.some((line) => line.includes(told)));
      await Bun.sleep(100);
      expect(https.isReady()).toBe(false);
      expect(https.logged.at(-1)).toContain(told);
    }
    expect(acme.counts.orders).toBe(1);
  });

  test("orders anew what cannot be used, or lacks a host", async () => {
    using folder = temporaryFolder();
    await using acme = await startAcmeServer({ isPlain: true });
    let file = "";
    for (const aliases of ["", "", "go.curt.example"]) {
      await using https = start(acme, folder.path, { aliases });
      await https.ready;
      file = https.certFile;
      await until("the authority was asked", () => acme.issued.length >= (aliases === "" ? 1 : 2));
      await until("it was stored", () => https.logged.some((line) => line.includes("got")) || aliases === "");
    }
    expect(acme.issued).toEqual([["curt.example"], ["curt.example", "go.curt.example"]]);
    // With and without a contact: the account exists already.
    for (const contact of ["operator@curt.example", ""]) {
      writeFileSync(file, "nonsense");
      await using https = start(acme, folder.path, { contact });
      await https.ready;
    }
    expect(acme.issued).toHaveLength(4);
    expect(acme.accounts).toHaveLength(1);
  });

  test("a renewal that fails leaves the certificate in use", async () => {
    using folder = temporaryFolder();
    await using acme = await startAcmeServer({ isPlain: true });
    acme.lastMs = 60_000;
    await using first = start(acme, folder.path, { firstWaitMs: 1 });
    await first.ready;
    const kept = readFileSync(first.certFile, "utf8");
    await first[Symbol.asyncDispose]();
    acme.isDown = true;
    await using https = start(acme, folder.path, { aliases: "new.curt.example" });
    await https.ready;
    await until("it failed", () => https.logged.some((line) => line.includes("could not renew")));
    expect(readFileSync(https.certFile, "utf8")).toBe(kept);
  });

  test("refuses a certificate for other hosts, and keeps the one it has", async () => {
    using folder = temporaryFolder();
    await using acme = await startAcmeServer({ isPlain: true });
    acme.otherHosts = ["other.example"];
    await using https = start(acme, folder.path);
    await until("it was refused", () => https.logged.some((line) => line.includes("could not get")));
    expect(https.logged.at(-1)).toContain("is not for curt.example");
    expect(https.isReady()).toBe(false);
    expect(readdirSync(https.folder)).not.toContain("certificate.pem");
  });

  test("a certificate that cannot be stored is kept until it can, and no other one is ordered", async () => {
    using folder = temporaryFolder();
    await using acme = await startAcmeServer({ isPlain: true });
    await using https = start(acme, folder.path);
    const obstacle = `${https.certFile}.new`;
    mkdirSync(obstacle, { recursive: true });
    const failures = () => https.logged.filter((line) => line.includes("EISDIR"));
    await until("it failed twice", () => failures().length >= 2);
    rmdirSync(obstacle);
    await https.ready;
    expect(acme.issued).toHaveLength(1);
  });
});

describe("an http:// address", () => {
  test.each([
    ["/abc", "curt.example", "/abc"],
    ["/%ED%95%9C%EA%B8%80/?a=b&c=%zz", "curt.example", "/%ED%95%9C%EA%B8%80/?a=b&c=%zz"],
    ["/한글", "curt.example", "/%ED%95%9C%EA%B8%80"],
    ["/한글", "not a host", "/%ED%95%9C%EA%B8%80"],
    ["/abc+", "evil.example", "/abc+"],
    ["//evil.example/x", "curt.example", "//evil.example/x"],
    ["http://evil.example/x", "curt.example", "/x"],
    ["/x", "curt.example@evil.example", "/x"],
    ["/.well-known/security.txt", "", "/.well-known/security.txt"],
  ])("%s for host %j leads to the host of BASE_URL", async (path, host, expected) => {
    using folder = temporaryFolder();
    await using acme = await startAcmeServer({ isPlain: true });
    await using https = start(acme, folder.path);
    await https.ready;
    const head = await ask(https.plain, path, host);
    expect(head.split("\r\n")[0]).toBe("HTTP/1.1 308 Permanent Redirect");
    expect(/^Location: (.*)$/im.exec(head)?.[1]).toBe(`${BASE_URL}${expected}`);
  });

  test.each([
    "/.well-known/acme-challenge/account.pem",
    "/.well-known/acme-challenge/../../account.pem",
    "/.well-known/acme-challenge/%2e%2e%2fcertificate.pem",
    "/.well-known/acme-challenge//etc/passwd",
    "/.well-known/acme-challenge/__proto__",
    "/.well-known/acme-challenge/constructor",
    "/.well-known/acme-challenge/",
  ])("%s reads no file", async (path) => {
    using folder = temporaryFolder();
    await using acme = await startAcmeServer({ isPlain: true });
    await using https = start(acme, folder.path);
    await https.ready;
    const head = await ask(https.plain, path, "curt.example");
    expect(head).toMatch(/^HTTP\/1\.1 (?:308|404) /);
    expect(head).not.toMatch(/PRIVATE KEY|root:/);
  });
});

/** The whole answer to a request that is sent as it is. */
function ask(origin: string, path: string, host: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = "";
  const socket = connect(Number(new URL(origin).port), "127.0.0.1", () =>
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
  );
  socket.on("data", (bytes: Buffer) => (text += bytes.toString()));
  socket.on("close", () => resolve(text));
  return promise;
}
