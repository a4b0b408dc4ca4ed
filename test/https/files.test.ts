import { beforeAll, describe, expect, test } from "bun:test";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectPlain } from "node:net";
import { join } from "node:path";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";

import { ConfigError } from "../../src/config.ts";
import { type Running, startHere, startProgram, temporaryFolder, untilLogged } from "../service.ts";
import { type Authority, createAuthority, makePair, storePair } from "./certificates.ts";

const TARGET = "https://example.com/";
/** Between two requests of a visitor. */
const PAUSE_MS = 5;
/** Visitors ask again long before the end of a handover. */
const SOON = { readCertificateEveryMs: 20, handoverMs: 1000, drainLimitMs: 1000 };

let authority: Authority;
beforeAll(async () => {
  authority = await createAuthority();
});

/** One TLS connection. */
interface Connection extends Disposable {
  readonly socket: TLSSocket;
  /** The serial number of the certificate that it was answered with. */
  readonly serial: string;
  /** Sends a request for the path, and resolves with the head of the answer; undefined if the connection ends. */
  ask(path: string): Promise<string | undefined>;
}

function open({ origin }: Pick<Running, "origin">, options: ConnectionOptions = {}): Promise<Connection> {
  const { promise, resolve, reject } = Promise.withResolvers<Connection>();
  const { hostname: host, port } = new URL(origin);
  const socket = connect({ host, port: Number(port), ca: authority.pem, ...options });
  let text = "";
  let waiting: ((head: string | undefined) => void) | undefined;
  socket.on("data", (bytes: Buffer) => {
    text += bytes.toString("latin1");
    const end = text.indexOf("\r\n\r\n");
    if (end === -1) return;
    waiting?.(text.slice(0, end));
    text = "";
  });
  socket.on("close", () => waiting?.(undefined));
  socket.on("error", reject);
  socket.on("secureConnect", () =>
    resolve({
      socket,
      serial: socket.getPeerCertificate().serialNumber,
      ask(path) {
        const answer = new Promise<string | undefined>((head) => (waiting = head));
        socket.write(`HEAD ${path} HTTP/1.1\r\nHost: curt.example\r\n\r\n`);
        return answer;
      },
      [Symbol.dispose]: () => socket.destroy(),
    }),
  );
  return promise;
}

/**
 * Opens a connection, and another one if it is reset. The kernel does so with those that nobody has accepted yet when a
 * server closes whose certificate was replaced (docs/https.md).
 */
async function openOrAgain(curt: Running): Promise<Connection> {
  for (let tries = 1; ; tries++) {
    try {
      return await open(curt);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ECONNRESET" || tries === 3) throw error;
    }
  }
}

async function serial(curt: Running): Promise<string> {
  using connection = await openOrAgain(curt);
  return connection.serial;
}

async function untilSerialChanges(curt: Running, from: string): Promise<string> {
  const patience = AbortSignal.timeout(60_000);
  while (!patience.aborted) {
    const found = await serial(curt);
    if (found !== from) return found;
    await Bun.sleep(10);
  }
  throw new Error("the certificate is still the old one");
}

/** Starts with a certificate; its files are in the folder. */
async function startWith(folder: string, settings = {}) {
  const files = storePair(folder, await makePair(authority));
  return startHere({ ...files, ...settings }, { folder, limits: SOON });
}

async function link(curt: Running, code: string): Promise<void> {
  const response = await fetch(`${curt.origin}/api/v1/shorten`, {
    method: "POST",
    body: JSON.stringify({ original_url: TARGET, custom_code: code }),
    headers: { "Content-Type": "application/json" },
    tls: { ca: authority.pem },
  });
  expect(response.status).toBe(201);
}

describe("TLS_CERT and TLS_KEY", () => {
  test("serve HTTPS, TLS 1.2 or newer, with the whole chain", async () => {
    using folder = temporaryFolder();
    await using curt = await startWith(folder.path);
    await link(curt, "abc");
    for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
      using connection = await open(curt, { minVersion: version, maxVersion: version });
      expect(connection.socket.getProtocol()).toBe(version);
      expect(connection.socket.authorized).toBe(true);
      expect(await connection.ask("/abc")).toStartWith("HTTP/1.1 302 ");
    }
    const old = open(curt, { minVersion: "TLSv1", maxVersion: "TLSv1.1" });
    expect(
      await old.then(
        () => "connected",
        () => "refused",
      ),
    ).toBe("refused");
    expect(await plainAnswer(curt)).not.toContain("302");
  });

  test("a connection that never finishes its handshake is closed", async () => {
    using folder = temporaryFolder();
    await using curt = await startWith(folder.path);
    const { port } = new URL(curt.origin);
    const closed = ["", "\u0016\u0003\u0001\u0002\u0000\u0001"].map((begun) => {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const socket = connectPlain(Number(port), "127.0.0.1", () => socket.write(begun, "latin1"));
      socket.on("close", () => resolve(true));
      socket.on("error", () => resolve(true));
      return promise;
    });
    expect(await Promise.all(closed)).toEqual([true, true]);
  }, 120_000);

  test.each([
    ["a file that is not there", async (folder: string) => rmSync(join(folder, "key.pem")), "cannot read"],
    [
      "a file that is too large",
      async (folder: string) => writeFileSync(join(folder, "cert.pem"), "x".repeat(1024 * 1024 + 1)),
      "at most 1 MiB",
    ],
    [
      "a certificate that is none",
      async (folder: string) => writeFileSync(join(folder, "cert.pem"), "nonsense"),
      "no certificate in PEM format",
    ],
    [
      "a key that is none",
      async (folder: string) => writeFileSync(join(folder, "key.pem"), "nonsense"),
      "no key in PEM format",
    ],
    [
      "a chain that is cut off",
      async (folder: string) => {
        const { cert, key } = await makePair(authority);
        storePair(folder, { cert: cert.trim().slice(0, -50), key });
      },
      "cannot be served",
    ],
    [
      "the key of another certificate",
      async (folder: string) => writeFileSync(join(folder, "key.pem"), (await makePair(authority)).key),
      "does not belong to",
    ],
    [
      "a certificate that has ended",
      async (folder: string) =>
        storePair(
          folder,
          await makePair(authority, { startsMs: Date.now() - 7_200_000, lastsMs: 3_600_000 }),
        ),
      "expired on",
    ],
  ])("a start with %s says so", async (_, damage, reason) => {
    using folder = temporaryFolder();
    const files = storePair(folder.path, await makePair(authority));
    await damage(folder.path);
    const start = startHere(files, { folder: folder.path });
    const error = await start.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(ConfigError);
    expect(String(error)).toContain(reason);
    expect(existsSync(join(folder.path, "curt.db"))).toBe(false);
  });

  test("a start with the certificate of another host warns", async () => {
    using folder = temporaryFolder();
    await using curt = await startWith(folder.path, { BASE_URL: "https://other.example" });
    await untilLogged(curt, "not for the host of BASE_URL");
  });

  test("a start with the certificate of its own address does not warn", async () => {
    using folder = temporaryFolder();
    await using curt = await startWith(folder.path, { BASE_URL: "https://127.0.0.1" });
    expect(curt.logged.join("")).not.toContain("not for the host of BASE_URL");
  });
});

describe("a renewed certificate", () => {
  test("is used under load, and no request on an open connection fails", async () => {
    using folder = temporaryFolder();
    await using curt = await startWith(folder.path);
    await link(curt, "abc");
    const over = new AbortController();
    let answered = 0;
    const failures: string[] = [];
    /** Asks on one connection as long as the server keeps it, then on another one. */
    async function visit(): Promise<void> {
      while (!over.signal.aborted) {
        using kept = await openOrAgain(curt);
        for (
          let head: string | undefined = "";
          !over.signal.aborted && !head?.includes("Connection: close");
        ) {
          await Bun.sleep(PAUSE_MS);
          head = await kept.ask("/abc");
          if (head?.startsWith("HTTP/1.1 302 ") !== true) failures.push(head ?? "closed");
          if (head === undefined) break;
          answered++;
        }
      }
    }
    const visitors = Array.from({ length: 8 }, visit);
    let last = await serial(curt);
    for (let renewals = 0; renewals < 3; renewals++) {
      // The old server closes it, because it asks nothing.
      using idle = await openOrAgain(curt);
      const { promise: closed, resolve: close } = Promise.withResolvers<void>();
      idle.socket.on("close", close);
      storePair(folder.path, await makePair(authority));
      last = await untilSerialChanges(curt, last);
      await closed;
      expect(await serial(curt)).toBe(last);
    }
    over.abort();
    await Promise.all(visitors);
    expect(failures).toEqual([]);
    expect(answered).toBeGreaterThan(100);
  });

  test("that is broken changes nothing, and is told once", async () => {
    using folder = temporaryFolder();
    await using curt = await startWith(folder.path);
    curt.expectFaults();
    const first = await serial(curt);
    writeFileSync(join(folder.path, "key.pem"), (await makePair(authority)).key);
    await untilLogged(curt, "the old one stays in use");
    await Bun.sleep(20 * SOON.readCertificateEveryMs);
    expect(curt.logged.filter((line) => line.includes("the old one stays in use"))).toHaveLength(1);
    expect(await serial(curt)).toBe(first);
    storePair(folder.path, await makePair(authority));
    expect(await untilSerialChanges(curt, first)).not.toBe(first);
  });

  test("of another host warns", async () => {
    using folder = temporaryFolder();
    await using curt = await startWith(folder.path);
    storePair(folder.path, await makePair(authority, { hosts: ["other.example"] }));
    await untilLogged(curt, "a new certificate is in use");
    await untilLogged(curt, "not for the host of BASE_URL");
  });

  test("reaches every process", async () => {
    using folder = temporaryFolder();
    const files = storePair(folder.path, await makePair(authority));
    const settings = { ...files, PROCESSES: "2", HTTP_PORT: "off" };
    await using curt = await startProgram(settings, { folder: folder.path, roundMs: 50 });
    storePair(folder.path, await makePair(authority));
    await untilLogged(curt, "a new certificate is in use", 2);
  });
});

/** What a client gets that speaks plain HTTP to the port. */
function plainAnswer({ origin }: Running): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = "";
  const socket = connectPlain(Number(new URL(origin).port), "127.0.0.1", () =>
    socket.write("GET /abc HTTP/1.1\r\nHost: curt.example\r\n\r\n"),
  );
  socket.on("data", (bytes: Buffer) => (text += bytes.toString("latin1")));
  socket.on("close", () => resolve(text));
  socket.on("error", () => resolve(text));
  return promise;
}
