import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectPlain } from "node:net";
import { join } from "node:path";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";

import { ConfigError } from "../../src/config/config.ts";
import { addressOf, scrape } from "../metrics/scrape.ts";
import {
  type RunningService,
  startService,
  startProgram,
  temporaryFolder,
  untilLogged,
} from "../support/service.ts";

const TARGET = "https://example.com/";
/**
 * Each file has a certificate for curt.example and 127.0.0.1, the one in between, and the key. `first` and `second` are valid from
 * 2020 to 2120.
 */
const fileOf = (name: "first" | "second" | "expired" | "authority") =>
  join(import.meta.dir, `certificates/${name}.pem`);
const textOf = (name: Parameters<typeof fileOf>[0]) => readFileSync(fileOf(name), "utf8");
const AUTHORITY = textOf("authority");

/** One TLS connection. */
interface Connection extends Disposable {
  readonly socket: TLSSocket;
  /** The serial number of the service's certificate. */
  readonly serial: string;
  /** Sends a HEAD request, and resolves with the head of the response; undefined if the connection ends. */
  request(path: string): Promise<string | undefined>;
}

function connectTls(
  { origin }: Pick<RunningService, "origin">,
  options: ConnectionOptions = {},
): Promise<Connection> {
  const { promise, resolve, reject } = Promise.withResolvers<Connection>();
  const { hostname: host, port } = new URL(origin);
  const socket = connect({ host, port: Number(port), ca: AUTHORITY, ...options });
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
      request(path) {
        const response = new Promise<string | undefined>((head) => (waiting = head));
        socket.write(`HEAD ${path} HTTP/1.1\r\nHost: curt.example\r\n\r\n`);
        return response;
      },
      [Symbol.dispose]: () => socket.destroy(),
    }),
  );
  return promise;
}

async function serialOf(curt: RunningService): Promise<string> {
  using connection = await connectTls(curt);
  return connection.serial;
}

/** Writes both files, and returns the settings that name them. */
function writeCertificate(folder: string, text: string) {
  const files = { TLS_CERT: join(folder, "cert.pem"), TLS_KEY: join(folder, "key.pem") };
  for (const file of Object.values(files)) writeFileSync(file, text);
  return files;
}

/** Starts with the first certificate. */
const start = (settings = {}) =>
  startService({ TLS_CERT: fileOf("first"), TLS_KEY: fileOf("first"), ...settings });

async function createLink(curt: RunningService, code: string): Promise<void> {
  const response = await fetch(`${curt.origin}/api/v1/shorten`, {
    method: "POST",
    body: JSON.stringify({ original_url: TARGET, custom_code: code }),
    headers: { "Content-Type": "application/json" },
    tls: { ca: AUTHORITY },
  });
  expect(response.status).toBe(201);
}

describe("a service with TLS_CERT and TLS_KEY", () => {
  test("serves HTTPS over TLS 1.2 or newer with the whole chain, and no plain HTTP", async () => {
    await using curt = await start();
    await createLink(curt, "abc");
    for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
      using connection = await connectTls(curt, { minVersion: version, maxVersion: version });
      expect(connection.socket.getProtocol()).toBe(version);
      expect(connection.socket.authorized).toBe(true);
      expect(await connection.request("/abc")).toStartWith("HTTP/1.1 302 ");
    }
    const outdated = connectTls(curt, { minVersion: "TLSv1", maxVersion: "TLSv1.1" });
    expect(
      await outdated.then(
        () => "connected",
        () => "refused",
      ),
    ).toBe("refused");
    expect(await fetchPlain(curt)).not.toContain("302");
  });

  test.each([
    ["a missing file", "key.pem", undefined, "cannot read"],
    ["a file over 1 MiB", "cert.pem", "x".repeat(1024 * 1024 + 1), "at most 1 MiB"],
    ["a certificate not in PEM format", "cert.pem", "nonsense", "not a certificate in PEM format"],
    ["a key not in PEM format", "key.pem", "nonsense", "not an unencrypted key in PEM format"],
    ["a truncated chain", "cert.pem", textOf("first").slice(0, 1000), "cannot be served"],
    ["the key of another certificate", "key.pem", textOf("second"), "does not belong to"],
    ["an expired certificate", "both", textOf("expired"), "expired on"],
  ])("refuses to start with %s, says why and creates no database", async (_, name, text, reason) => {
    using folder = temporaryFolder();
    const files = writeCertificate(folder.path, textOf("first"));
    if (name === "both") writeCertificate(folder.path, text ?? "");
    else if (text === undefined) rmSync(join(folder.path, name));
    else writeFileSync(join(folder.path, name), text);
    const error = await startService(files, { folder: folder.path }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(ConfigError);
    expect(String(error)).toContain(reason);
    expect(existsSync(join(folder.path, "curt.db"))).toBe(false);
  });

  test("has a metric of the time when its certificate expires", async () => {
    using folder = temporaryFolder();
    const files = writeCertificate(folder.path, textOf("first"));
    await using curt = await startProgram({ ...files, METRICS_PORT: "0" }, { folder: folder.path });
    const { of } = await scrape(await addressOf(curt));
    expect(of("curt_certificate_expiry_timestamp_seconds")).toBe(Date.UTC(2120, 0, 1) / 1000);
  });

  test("warns at its start if a host of BASE_URL or DOMAINS isn't in the certificate", async () => {
    await using curt = await start({ BASE_URL: "https://other.example" });
    await untilLogged(curt, "not for a host of BASE_URL");
    await using several = await start({ BASE_URL: "https://127.0.0.1", DOMAINS: "https://other.example" });
    await untilLogged(several, '"host":"other.example"');
  });

  test("doesn't warn at its start if the certificate has its host", async () => {
    await using curt = await start({ BASE_URL: "https://127.0.0.1" });
    expect(curt.logged.join("")).not.toContain("not for a host of BASE_URL");
  });

  test("reads both files again on SIGUSR2, and keeps its old processes if they don't match", async () => {
    using folder = temporaryFolder();
    const settings = { HOST: "127.0.0.1", ...writeCertificate(folder.path, textOf("first")) };
    await using curt = await startProgram(settings, { folder: folder.path });
    curt.expectFaults();
    const before = await serialOf(curt);
    writeFileSync(join(folder.path, "key.pem"), textOf("second"));
    curt.kill("SIGUSR2");
    await untilLogged(curt, "the old ones keep serving");
    expect(await serialOf(curt)).toBe(before);
    writeCertificate(folder.path, textOf("second"));
    curt.kill("SIGUSR2");
    await untilLogged(curt, "the old processes have ended");
    expect(await serialOf(curt)).not.toBe(before);
  });
});

/** Sends plain HTTP to the port, and returns the response. */
function fetchPlain({ origin }: RunningService): Promise<string> {
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
