// The commands for one link, and the file of manage keys: an address and its key on each line.
import { existsSync, fchmodSync, fstatSync, mkdirSync, openSync, readFileSync, readSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

import type { Client } from "../../client/client.ts";
import type { Link, LinkChange, LinkRequest, ManagedLink } from "../../client/types.ts";
import { cut } from "../lib/bounds.ts";
import { reasonOf } from "../lib/error-reason.ts";
import { writeAll } from "../lib/files.ts";
import { escapeLine } from "../lib/log.ts";
import { StoreUnusable } from "../links/link-store.ts";
import { readShortAddress, type ShortAddress } from "../links/short-address.ts";
import { type Building, TERM_NAMES, type TermName, TERMS } from "../links/terms/terms.ts";
import type { Arguments, Environment } from "./command.ts";
import { sendRequests, instanceOf, isOf } from "./instance-request.ts";
import { fail, print, printJson } from "./terminal/print.ts";
import { readPassword } from "./terminal/standard-input.ts";

const PRIVATE = 0o600;
const NEWLINE = 10;
/** Shown only with --json. */
const HIDDEN = new Set(["etag", "manage_key"]);

/** Shows a link. Its key is optional. */
export function info(environment: Environment, args: Arguments): Promise<number> {
  return manage(environment, args, (client, code, key) => client.links.get(code, { key }));
}

export async function edit(environment: Environment, args: Arguments): Promise<number> {
  const { options } = args;
  const terms = await readTerms(environment, options);
  if (typeof terms === "string") return fail(terms, 2);
  const changes: LinkChange = { target: options["target"] as string | undefined, ...terms };
  if (Object.values(changes).every((value) => value === undefined))
    return fail("edit needs at least one change, such as --target URL", 2);
  return manage(environment, args, (client, code, key = "") => client.links.update(code, key, changes), true);
}

export function withdraw(environment: Environment, args: Arguments): Promise<number> {
  return manage(environment, args, (client, code, key = "") => client.links.withdraw(code, key), true);
}

/** Prints the link that `act` returns; resolves with the exit code. */
async function manage(
  environment: Environment,
  { positionals: [written = ""], options }: Arguments,
  act: (client: Client, code: string, key: string | undefined) => Promise<Link>,
  needsKey = false,
): Promise<number> {
  const link = readShortAddress(written);
  if (link === undefined) return fail(`${written} is neither a code nor a short address`, 2);
  const instance = instanceOf(environment, link.origin);
  if (instance === undefined) return 2;
  // An address alone must not send the key of the environment to whatever host it names.
  const isTrusted = link.origin === undefined || Boolean(environment["CURT_URL"]);
  const given = (options["key"] as string | undefined) || (isTrusted ? environment["CURT_KEY"] : undefined);
  const key = given || findKey(environment, { code: link.code, origin: link.origin ?? instance.baseUrl });
  if (needsKey && key === undefined)
    return fail(
      `no manage key for ${written} in ${keysPath(environment)}: give the whole short address, --key or CURT_KEY`,
      2,
    );
  return sendRequests(
    environment,
    async (client) => {
      const result = await act(client, link.code, key);
      if (!isOf(result, link, instance)) return fail(`${instance.baseUrl} has no link ${written}`);
      if (options["json"] === true) printJson(result);
      else
        for (const [name, value] of Object.entries(result))
          if (typeof value !== "object" && !HIDDEN.has(name))
            print(escapeLine(`${name.padEnd(15)} ${value}`));
      return 0;
    },
    link.origin,
  );
}

/** The terms that options give, or an error message. Asks for a password only if everything else is right. */
export async function readTerms(
  environment: Environment,
  options: Arguments["options"],
): Promise<Pick<LinkRequest, TermName> | string> {
  const terms: Building<Pick<LinkRequest, TermName>> = {};
  const secrets: TermName[] = [];
  for (const name of TERM_NAMES) {
    const term = TERMS[name];
    const option = name.replaceAll("_", "-");
    const written = options[option];
    const isRemoved = options[`no-${option}`] === true || ("none" in term && written === term.none);
    if (isRemoved && written === true) return `--${option} and --no-${option} exclude each other`;
    if (isRemoved) terms[name] = null;
    else if (written === undefined) continue;
    else if (term.kind === "secret") secrets.push(name);
    else {
      const sent = typeof written === "string" ? cut(name, written) : written;
      const value = term.kind === "count" ? Number(sent) : sent;
      // JSON sends infinity as null, which would remove the limit.
      if (typeof value === "number" && !Number.isFinite(value)) return `--${option} must be a number`;
      terms[name] = value as never;
    }
  }
  for (const name of secrets) {
    terms[name] = cut(name, (await readPassword(environment)) ?? "") as never;
    if (!terms[name]) return "--password needs CURT_PASSWORD or a terminal";
  }
  return terms;
}

function keysPath({ XDG_STATE_HOME, HOME }: Environment): string {
  return join(XDG_STATE_HOME || join(HOME || homedir(), ".local/state"), "curt/keys");
}

/** Opens the key file, and returns a function that adds a link. Throws {@link StoreUnusable}. */
export function openKeys(environment: Environment): (link: ManagedLink) => void {
  const path = keysPath(environment);
  const file = onKeys(path, () => {
    mkdirSync(dirname(path), { recursive: true });
    const opened = openSync(path, "a+", PRIVATE);
    fchmodSync(opened, PRIVATE);
    // A full disk may have cut the last line, and the next one must not continue it.
    const last = new Uint8Array(1);
    const { size } = fstatSync(opened);
    if (size > 0 && readSync(opened, last, 0, 1, size - 1) === 1 && last[0] !== NEWLINE)
      writeAll(opened, Uint8Array.of(NEWLINE));
    return opened;
  });
  return ({ short_url, manage_key }) => {
    const line = `${new URL(short_url).href} ${escapeLine(manage_key)}\n`;
    onKeys(path, () => writeAll(file, Buffer.from(line)));
  };
}

/** A code may be used again after a purge, so the last line counts. */
function findKey(environment: Environment, link: ShortAddress): string | undefined {
  const path = keysPath(environment);
  if (!existsSync(path)) return undefined;
  const lines = onKeys(path, () => readFileSync(path, "utf8")).split("\n");
  const wanted = identify(link);
  return lines
    .map((line) => line.split(" "))
    .findLast(([address = ""]) => identify(readShortAddress(address)) === wanted)?.[1];
}

/** Equal for all spellings of an address. A code alone has the host of the instance, whose keys are for no other one. */
function identify(link: ShortAddress | undefined): string {
  if (link?.origin === undefined) return "";
  return `${new URL(link.origin).host}/${link.code.normalize().replaceAll("\uFE0F", "")}`;
}

function onKeys<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (cause) {
    throw new StoreUnusable(`the key file ${path} cannot be used: ${reasonOf(cause)}.`, { cause });
  }
}
