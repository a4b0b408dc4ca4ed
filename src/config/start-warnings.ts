import { readFileSync, realpathSync, statSync } from "node:fs";
import { totalmem } from "node:os";
import { dirname } from "node:path";

import { isPrivateHost } from "../links/target.ts";
import type { Config } from "./config.ts";
import type { PostgresAddress } from "./database-url.ts";

/** Peak observed: 289 MB, with full tables and without blocklists. */
export const PROCESS_BYTES = 300 * 1024 * 1024;
export const MIN_DESCRIPTORS = 4096;

interface Warning {
  readonly text: string;
  readonly fields?: object;
}

/** Warnings that don't prevent a start, for its log and for curt check. */
export function startWarnings(config: Config): Warning[] {
  return [
    ...config.misspellings.map((fields) => ({
      text: "a setting may be misspelt: Curt does not read `name`",
      fields,
    })),
    ...plainAddress(config),
    ...oneClient(config),
    ...lowLimits(config),
    ...filesOpenToOthers(config),
  ];
}

/** Low limits of the system, before visitors run into them. */
function* lowLimits({ processes }: Pick<Config, "processes">): Generator<Warning> {
  const megabytes = (bytes: number) => Math.floor(bytes / 1024 / 1024);
  const neededBytes = processes * PROCESS_BYTES;
  // The limit of the container or the unit, or else the memory of the machine.
  const limitBytes = Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem());
  if (limitBytes < neededBytes)
    yield {
      text: "the memory limit is low: the system may kill a process. Raise it, or lower PROCESSES",
      fields: { limitMb: megabytes(limitBytes), neededMb: megabytes(neededBytes) },
    };
  const descriptors = mostDescriptors();
  if (descriptors < MIN_DESCRIPTORS)
    yield {
      text: "the limit of open files is low, and each connection takes one: raise ulimit -n (LimitNOFILE)",
      fields: { descriptors },
    };
}

/** Bun raises the soft limit to the hard one. */
function mostDescriptors(): number {
  try {
    const [, hard = ""] =
      /^Max open files +\S+ +(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return hard === "unlimited" || hard === "" ? Number.POSITIVE_INFINITY : Number(hard);
  } catch {
    // Not Linux.
    return Number.POSITIVE_INFINITY;
  }
}

/**
 * The store and the files of secrets that every user of the machine can read or write. Curt leaves their modes alone, because
 * another user may have to copy the files.
 */
function filesOpenToOthers(config: Config): Warning[] {
  const { database, tlsKey, adminTokenFile, createTokenFile } = config;
  const [store, passwordFile] =
    database.engine === "sqlite" ? [database.path] : [undefined, passwordFileOf(database)];
  return [store, passwordFile, tlsKey, adminTokenFile, createTokenFile].flatMap((file) => {
    if (!file || !isOpenToOthers(file)) return [];
    const text =
      file === store
        ? "every user of this machine can read the store, and the secret of the manage keys in it: run chmod o-rwx on the file, its -wal and its -shm"
        : "every user of this machine can read or write this file, which has a secret: run chmod o-rwx on it";
    return { text, fields: { file } };
  });
}

function passwordFileOf({ password }: PostgresAddress): string | undefined {
  return typeof password === "object" ? password.file : undefined;
}

/** False if the file was moved away just now. */
function isOpenToOthers(path: string): boolean {
  try {
    const file = realpathSync(path);
    return (statSync(file).mode & 0o006) !== 0 && canOthersEnter(dirname(file));
  } catch {
    return false;
  }
}

function canOthersEnter(folder: string): boolean {
  const isOpen = (statSync(folder).mode & 0o001) !== 0;
  return isOpen && (dirname(folder) === folder || canOthersEnter(dirname(folder)));
}

function* plainAddress({ baseUrl }: Config): Generator<Warning> {
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol === "http:" && !isPrivateHost(hostname))
    yield {
      text: "BASE_URL starts with http://: anyone on the network path can change the destinations of links. Serve HTTPS, and set BASE_URL to https://…",
    };
}

/** If only this machine can reach a public service, all visitors come through a proxy. */
function* oneClient(config: Config): Generator<Warning> {
  const { host, posture, trustedProxies, tlsCert } = config;
  const { limitCreate, limitUnknown, limitView, limitReport, limitPasswords } = config;
  const limits = [limitCreate, limitUnknown, limitView, limitReport, limitPasswords];
  const isLocal = host === "localhost" || host === "::1" || host.startsWith("127.");
  if (
    limits.some(({ length }) => length > 0) &&
    isLocal &&
    // With TLS_CERT, there is no proxy that could append to X-Forwarded-For.
    tlsCert === null &&
    posture === "public" &&
    trustedProxies.length === 0
  )
    yield {
      text:
        "all visitors count as one client, because they come through a proxy on this machine: set TRUSTED_PROXIES=127.0.0.1,::1 " +
        "and let the proxy append to X-Forwarded-For, or set LIMIT_CREATE, LIMIT_UNKNOWN, LIMIT_VIEW, LIMIT_REPORT and LIMIT_PASSWORDS to off",
    };
}
