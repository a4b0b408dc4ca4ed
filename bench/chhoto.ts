import { Database } from "bun:sqlite";
import { join } from "node:path";

import { type Link, originalUrl } from "./links.ts";
import { SERVER_CORE, start } from "./process.ts";
import { freePort, type Server, started } from "./servers.ts";

/** The path of https://github.com/SinTan1729/chhoto-url, if set. */
const CHHOTO = process.env["CHHOTO"] ?? "";

/** Its index for searches makes a create expensive and has no switch, so it is measured with and without. */
export const CHHOTOS = CHHOTO === "" ? [] : (["chhoto-url", "chhoto-url without search"] as const);
type Name = (typeof CHHOTOS)[number];

export const CHHOTO_REDIRECT = 307;
const VERSION = "/api/version";

/** It syncs each create like Curt, redirects temporarily, and lets everyone create links. */
const SETTINGS = {
  CHHOTO_LISTEN_ADDRESS: "127.0.0.1",
  CHHOTO_SQLITE_USE_WAL_MODE: "True",
  CHHOTO_SQLITE_ENSURE_ACID: "True",
  CHHOTO_REDIRECT_METHOD: "TEMPORARY",
  CHHOTO_PUBLIC_MODE: "Enable",
  CHHOTO_SLUG_STYLE: "UID",
  CHHOTO_SLUG_LENGTH: "7",
  CHHOTO_ALLOW_CAPITAL_LETTERS: "True",
  CHHOTO_DISABLE_FRONTEND: "True",
  RUST_LOG: "error",
};

/** A create of an address as long as those that Curt gets; {number} has eight digits. */
export const CHHOTO_CREATE = createOf(originalUrl("chhoto00", 0).replace(/\d{9}/, "0{number}"));

function createOf(longUrl: string): string {
  const body = JSON.stringify({ longlink: longUrl });
  const head = ["Host: localhost", "User-Agent: curt-bench", "Accept: */*", "Content-Type: application/json"];
  return ["POST /api/new HTTP/1.1", ...head, `Content-Length: ${body.length}`, "", body].join("\r\n");
}

/** chhoto-url with these links, with its index for searches and without. None without its program. */
export async function startChhotos(folder: string, links: readonly Link[]): Promise<Server[]> {
  const servers: Server[] = [];
  for (const name of CHHOTOS) servers.push(await startChhoto(name, await fillChhoto(name, folder, links)));
  return servers;
}

/** Its name and version; undefined without its program. */
export async function describeChhoto(folder: string): Promise<string | undefined> {
  const [name] = CHHOTOS;
  if (name === undefined) return undefined;
  const chhoto = await startChhoto(name, join(folder, "version.db"));
  const answer = await fetch(`http://127.0.0.1:${chhoto.port}${VERSION}`);
  await chhoto.stop();
  return answer.text();
}

/** It has started once `path` answers. */
export async function startChhoto(name: Name, database: string, path = VERSION): Promise<Server> {
  const port = freePort();
  const env = { ...SETTINGS, CHHOTO_LISTEN_PORT: String(port), CHHOTO_DB_URL: database };
  return started(name, port, start([CHHOTO], SERVER_CORE, env), path);
}

/** Creates a database with these links. */
export async function fillChhoto(name: Name, folder: string, links: Iterable<Link>): Promise<string> {
  const path = join(folder, `${name}.db`);
  // The program creates the file and its schema.
  await (await startChhoto(name, path)).stop();
  using database = new Database(path, { readwrite: true, strict: true });
  // Triggers keep the index up to date. The program creates them only with the index.
  if (name === "chhoto-url without search")
    for (const [trigger] of database.query("SELECT name FROM sqlite_schema WHERE type = 'trigger'").values())
      database.run(`DROP TRIGGER ${String(trigger)}`);
  using insert = database.prepare<unknown, [string, string]>(
    "INSERT INTO urls (short_url, long_url, hits) VALUES (?1, ?2, 0)",
  );
  database.transaction(() => {
    for (const [code, target] of links) insert.run(code, target);
  })();
  return path;
}
