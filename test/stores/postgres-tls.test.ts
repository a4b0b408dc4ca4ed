import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { openDatabase } from "../../src/store/postgres/connection/database.ts";
import {
  addressOf,
  PASSWORD,
  type PostgresServer,
  sharePostgres,
  type SharedPostgres,
  startPostgres,
  USER,
} from "../support/postgres.ts";
import { temporaryFolder } from "../support/service.ts";
import { open, openConnected, refusal, untilAway, untilBack } from "./postgres-away.ts";

/** The server's certificate is for the name `localhost` alone, and valid from 2020 to 2120. */
const fileOf = (name: string) => join(import.meta.dir, "tls", name);
const textOf = (name: string) => readFileSync(fileOf(name), "utf8");

/** A server without TLS. */
let plain: SharedPostgres;
/** A server that requires TLS. */
let secure: PostgresServer;

beforeAll(async () => {
  plain = await sharePostgres();
  const rules = "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n";
  secure = await startPostgres(["ssl=on", "ssl_cert_file=server.pem", "ssl_key_file=server.key"], {
    files: { "server.pem": textOf("server.pem"), "server.key": textOf("server.key"), "pg_hba.conf": rules },
  });
});
afterAll(async () => {
  await secure[Symbol.asyncDispose]();
});

/** Connects with files of `tls/`, and returns whether the connection has TLS or why it failed. */
async function connect(
  server: Pick<PostgresServer, "port">,
  parameters: string,
  host = "127.0.0.1",
): Promise<string> {
  const withPaths = parameters.replace(/(?<=sslrootcert=)(?:authority|other)\.pem/, fileOf);
  const url = `postgres://${USER}:${PASSWORD}@${host}:${server.port}/postgres?${withPaths}`;
  // A handshake takes long on a busy machine.
  const database = openDatabase(addressOf(url), { limitMs: 10_000 });
  try {
    const { rows } = await database.run<{ ssl: boolean }>(
      "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()",
    );
    return rows[0]?.ssl === true ? "with TLS" : "without TLS";
  } catch (error) {
    return (error as Error).message;
  } finally {
    await database.close();
  }
}

test.each([
  ["", "without TLS"],
  ["sslmode=disable", "without TLS"],
  ["sslmode=allow", "without TLS"],
  ["sslmode=prefer", "without TLS"],
  ["sslmode=require", "does not support SSL"],
  ["sslmode=verify-ca&sslrootcert=authority.pem", "does not support SSL"],
  ["sslmode=verify-full&sslrootcert=authority.pem", "does not support SSL"],
])("connecting to a server without TLS with %j results in %j", async (parameters, outcome) => {
  expect(await connect(plain, parameters)).toContain(outcome);
});

test.each([
  ["", "127.0.0.1", "with TLS"],
  ["sslmode=disable", "127.0.0.1", "no encryption"],
  ["sslmode=allow", "127.0.0.1", "with TLS"],
  ["sslmode=require", "127.0.0.1", "with TLS"],
  ["sslmode=require&sslrootcert=authority.pem", "127.0.0.1", "with TLS"],
  ["sslmode=require&sslrootcert=other.pem", "127.0.0.1", "certificate"],
  ["sslmode=verify-ca", "127.0.0.1", "certificate"],
  ["sslmode=verify-ca&sslrootcert=authority.pem", "127.0.0.1", "with TLS"],
  ["sslmode=verify-ca&sslrootcert=other.pem", "127.0.0.1", "certificate"],
  ["sslmode=verify-full&sslrootcert=authority.pem", "localhost", "with TLS"],
  ["sslmode=verify-full&sslrootcert=authority.pem", "127.0.0.1", "altnames"],
  ["sslmode=verify-full&sslrootcert=other.pem", "localhost", "certificate"],
  ["sslmode=verify-full&sslrootcert=system", "localhost", "certificate"],
  ["sslmode=verify-full&sslrootcert=/missing.pem", "localhost", "/missing.pem"],
])(
  "connecting to a server that requires TLS with %j at %s results in %j",
  async (parameters, host, outcome) => {
    expect(await connect(secure, parameters, host)).toContain(outcome);
  },
);

test("statements on a frozen server with TLS fail, and work again after it resumes", async () => {
  const url = `postgres://${USER}:${PASSWORD}@127.0.0.1:${secure.port}/postgres?sslmode=require`;
  await using database = await openConnected(addressOf(url));
  secure.freeze();
  try {
    expect(await refusal(database.run("SELECT 1"))).toContain("did not answer");
    expect(await untilAway(database)).toContain("did not answer");
  } finally {
    secure.thaw();
  }
  await untilBack(() => database.run("SELECT 1"));
});

test("each connection reads the password file again, and a missing password is reported", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "password");
  await Bun.write(file, "wrong\n");
  const address = {
    ...addressOf(`postgres://${USER}@127.0.0.1:${plain.port}/postgres`),
    password: { file },
  };
  await using database = open(address);
  expect(await untilAway(database)).toContain("password authentication failed");
  await Bun.write(file, `${PASSWORD}\n`);
  await untilBack(() => database.run("SELECT 1"));
  await using none = open({ ...address, password: undefined });
  expect(await untilAway(none)).toContain("DATABASE_PASSWORD_FILE");
});
