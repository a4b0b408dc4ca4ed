import { createHash, createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { readFileSync, statSync } from "node:fs";

import { type AccessToken, SHARED_SECRET, shareSecret, tokens } from "../config/access-settings.ts";
import { type Config, ConfigError, readSetting } from "../config/config.ts";
import { reasonOf } from "../lib/error-reason.ts";
import type { Log } from "../lib/log.ts";
import { HOUR_MS, MINUTE_MS } from "../links/time.ts";

/** How long a session at the operator's page lasts after the sign-in. */
export const SESSION_MS = 8 * HOUR_MS;

/** Synchronized clocks differ by less. */
const MAX_SKEW_MS = MINUTE_MS;

/**
 * Whether a signed end is not over. Another machine may have signed it a moment ago, by a clock that is a little ahead. A clock
 * that was far ahead may have signed an end in years.
 */
export function isNotOver(endsMs: number, lastsMs: number, nowMs: number): boolean {
  return nowMs < endsMs && endsMs <= nowMs + lastsMs + MAX_SKEW_MS;
}

/** Compares a secret text. Takes the same time for every text, so that nobody can guess it bit by bit. */
export function isEqual(given: string, expected: string): boolean {
  return timingSafeEqual(digestOf(given), digestOf(expected));
}

/** Digests have the same length, which timingSafeEqual needs. */
export function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** The tokens of ADMIN_TOKEN or CREATE_TOKEN, as they are now, and the sessions that they open. */
export interface AccessTokens {
  all(): readonly AccessToken[];
  /** Replaces all tokens. Those that are gone let nobody in any more, and end their sessions. */
  replace(tokens: readonly AccessToken[]): void;
  /** Returns the token that a caller sent, also as `name:secret`. Takes the same time whichever it is. */
  find(given: string): AccessToken | undefined;
  /** A session that starts now, as the value of a cookie. */
  startSession(token: AccessToken, nowMs: number): string;
  /** Returns the token of a session that is signed and not over. It may have been signed out. */
  findBySession(session: string, nowMs: number): AccessToken | undefined;
  /** Sent with every form of a session. No other site knows it. */
  formToken(token: AccessToken, session: string): string;
}

/**
 * Signs each session with a key derived from its token. So all processes agree on sessions, and another token ends those of the
 * former one. Only those that were signed out are stored.
 * @internal
 */
export function createAccessTokens(initial: readonly AccessToken[]): AccessTokens {
  let all: readonly AccessToken[];
  let digests: readonly (readonly [Buffer, AccessToken])[];

  function replace(replacement: readonly AccessToken[]): void {
    all = replacement;
    digests = all.flatMap((token) => {
      const { name, secret } = token;
      // A secret from before there were names may look like a name and a secret.
      const spellings = name === undefined ? [secret] : [secret, `${name}:${secret}`];
      return spellings.map((spelling) => [digestOf(spelling), token] as const);
    });
  }
  replace(initial);

  return {
    all: () => all,
    replace,
    find(given) {
      const digest = digestOf(given);
      let found: AccessToken | undefined;
      for (const [expected, token] of digests) if (timingSafeEqual(digest, expected)) found = token;
      return found;
    },
    startSession: (token, nowMs) => signed(token, `${nowMs + SESSION_MS}.${randomUUID()}`),
    findBySession(session, nowMs) {
      const [text = "", ends] = /^(\d{1,16})\.[\da-f-]{36}(?=\.)/.exec(session) ?? [];
      const isNow = isNotOver(Number(ends ?? Number.NaN), SESSION_MS, nowMs);
      const [token] = isNow ? all.filter((one) => isEqual(session, signed(one, text))) : [];
      return token;
    },
    formToken: (token, session) => sign(token, "form", session),
  };
}

function sign({ secret }: AccessToken, purpose: string, text: string): string {
  const key = createHmac("sha256", secret).update("Curt's operator").digest();
  return createHmac("sha256", key).update(`${purpose} ${text}`).digest("base64url");
}

function signed(token: AccessToken, text: string): string {
  return `${text}.${sign(token, "session", text)}`;
}

type TokenConfig = Pick<Config, "adminToken" | "adminTokenFile" | "createToken" | "createTokenFile">;
type TokenSetting = "ADMIN_TOKEN" | "CREATE_TOKEN";

/** Returns the tokens of a setting or of its file. Throws {@link ConfigError}. */
function readTokens(name: TokenSetting, config: TokenConfig): readonly AccessToken[] {
  const [token, file] =
    name === "ADMIN_TOKEN"
      ? [config.adminToken, config.adminTokenFile]
      : [config.createToken, config.createTokenFile];
  if (file === null) return token ?? [];
  const mistakes: string[] = [];
  const setting = { name: `${name}_FILE`, default: "", meaning: "", takes: tokens };
  let read: readonly AccessToken[] | undefined;
  try {
    // Reading a named pipe would block until somebody writes into it.
    if (!statSync(file).isFile()) throw new Error("it is not a file");
    read = readSetting(setting, { [setting.name]: readFileSync(file, "utf8") }, mistakes) ?? undefined;
  } catch (error) {
    mistakes.push(`${setting.name} cannot be read: ${reasonOf(error)}`);
  }
  if (read === undefined) throw new ConfigError(mistakes);
  return read;
}

/** Reads the tokens of both settings. Throws {@link ConfigError}. */
export function readAllTokens(config: TokenConfig) {
  const admin = readTokens("ADMIN_TOKEN", config);
  const create = readTokens("CREATE_TOKEN", config);
  if (shareSecret(admin, create)) throw new ConfigError([SHARED_SECRET]);
  return { admin, create };
}

/**
 * Opens the tokens of both settings. SIGHUP reads their files again, and keeps the former tokens if a file is wrong. Throws
 * {@link ConfigError}.
 */
export function openTokens(config: TokenConfig, log: Log) {
  const initial = readAllTokens(config);
  const admin = createAccessTokens(initial.admin);
  const create = createAccessTokens(initial.create);
  function readAgain(): void {
    let areRight = true;
    for (const [name, found] of [["ADMIN_TOKEN", admin] as const, ["CREATE_TOKEN", create] as const])
      try {
        found.replace(readTokens(name, config));
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        areRight = false;
        log.error({ mistakes: error.mistakes }, "a file of tokens is wrong: the former tokens remain");
      }
    if (shareSecret(admin.all(), create.all())) log.error(SHARED_SECRET);
    if (areRight) log.info("read the files of tokens again");
  }
  const hasFile = (config.adminTokenFile ?? config.createTokenFile) !== null;
  // Without a file, SIGHUP ends Curt, as terminals expect.
  if (hasFile) process.on("SIGHUP", readAgain);
  return { admin, create, close: () => void process.off("SIGHUP", readAgain) };
}
