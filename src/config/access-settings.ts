import { isName } from "../links/name.ts";
import { type Format, oneOf, path, type SecretFormat, type Setting } from "./setting-formats.ts";

/** A secret that lets a person or a program in. */
export interface AccessToken {
  /** For the operator's journal. Undefined for a bare secret. */
  readonly name?: string | undefined;
  readonly secret: string;
}

const SECRET = /^[\x21-\x7E]{16,256}$/;

function entriesOf(text: string): string[] {
  return text.split(/\s+/).filter((entry) => entry !== "");
}

function parseEntry(entry: string, _at: number, { length }: readonly string[]): AccessToken | undefined {
  const colon = entry.indexOf(":");
  const name = entry.slice(0, Math.max(colon, 0));
  const secret = entry.slice(colon + 1);
  if (isName(name)) {
    if (SECRET.test(secret)) return { name, secret };
    // Before there were names, a secret could have any colon in it.
    if (length > 1) return undefined;
  }
  return SECRET.test(entry) ? { secret: entry } : undefined;
}

/** Whether several tokens have the same name or secret. */
function areAlike(all: readonly (AccessToken | undefined)[]): boolean {
  const values = all.flatMap((token) => [token?.name ?? [], token?.secret ?? []].flat());
  return new Set(values).size < values.length;
}

/** With it, everybody who may create links would be an operator. */
export function shareSecret(admin: readonly AccessToken[], create: readonly AccessToken[]): boolean {
  return areAlike([...admin, ...create].map(({ secret }) => ({ secret })));
}

export const SHARED_SECRET =
  "ADMIN_TOKEN and CREATE_TOKEN must not share a secret: everybody who may create links would be an operator";

/** An empty text, which only a file can have, lets nobody in. */
export const tokens: SecretFormat<readonly AccessToken[]> = {
  isSecret: true,
  right:
    "a secret of 16 to 256 letters, digits and signs without spaces, such as openssl rand -hex 24 prints, or several, " +
    "separated by spaces or lines, each alone or after a name and a colon",
  parse(text) {
    const all = entriesOf(text).map(parseEntry);
    return all.every((token) => token !== undefined) && !areAlike(all) ? all : undefined;
  },
  wrongParts(text) {
    const wrong = entriesOf(text).filter((...entry) => parseEntry(...entry) === undefined);
    return [`(${(wrong.length > 0 ? wrong : [text]).map(({ length }) => length).join(", ")} characters)`];
  },
  reason: (text) =>
    areAlike(entriesOf(text).map(parseEntry)) ? "a name or a secret is there twice" : undefined,
};

/** Headers that browsers fill, and those in which proxies name addresses. */
const OTHERS =
  /^(?:host|origin|cookie|authorization|user-agent|referer|accept.*|sec-.*|x-forwarded-(?:for|host|proto))$/i;

const headerName: Format<string> = {
  right: "the name of a header that only the proxy sends, such as Remote-User",
  parse: (text) => (/^[a-z][a-z\d-]{0,63}$/i.test(text) && !OTHERS.test(text) ? text : undefined),
};

const address: Format<string> = {
  right: "an https:// or http:// address, such as https://auth.example.com/logout",
  parse: (text) => (/^https?:\/\/[\x21-\x7E]+$/i.test(text) ? URL.parse(text)?.href : undefined),
};

/** Who may operate this service and create links. */
export const ACCESS_SETTINGS = {
  adminToken: {
    name: "ADMIN_TOKEN",
    default: "none",
    unset: null,
    meaning:
      "secret of 16 characters or more that opens the operator's API and page, /api/v1/admin/ and /admin; or several, separated by spaces, each alone or as name:secret; without one and without ADMIN_USER_HEADER, neither exists",
    takes: tokens,
  },
  adminTokenFile: {
    name: "ADMIN_TOKEN_FILE",
    default: "none",
    unset: null,
    meaning: "file with the value of ADMIN_TOKEN; SIGHUP reads it again",
    takes: path,
  },
  adminUserHeader: {
    name: "ADMIN_USER_HEADER",
    default: "none",
    unset: null,
    meaning:
      "header in which a proxy of TRUSTED_PROXIES names a signed-in operator, such as Remote-User; the proxy must remove it from other requests",
    takes: headerName,
  },
  signOutUrl: {
    name: "SIGN_OUT_URL",
    default: "none",
    unset: null,
    meaning: "address where operators sign out of the proxy",
    takes: address,
  },
  createToken: {
    name: "CREATE_TOKEN",
    default: "none",
    unset: null,
    meaning:
      "secret of 16 characters or more that callers need to create links, sent as Authorization: Bearer, or several as in ADMIN_TOKEN; everything else stays open",
    takes: tokens,
  },
  createTokenFile: {
    name: "CREATE_TOKEN_FILE",
    default: "none",
    unset: null,
    meaning: "file with the value of CREATE_TOKEN; SIGHUP reads it again",
    takes: path,
  },
  createUserHeader: {
    name: "CREATE_USER_HEADER",
    default: "none",
    unset: null,
    meaning:
      "header in which a proxy of TRUSTED_PROXIES names people who may create links; others then need a token of CREATE_TOKEN",
    takes: headerName,
  },
  editors: {
    name: "EDITORS",
    default: "maker",
    meaning:
      "who may change the destination, the title and the terms of a link: maker, or everybody whom the proxy names in CREATE_USER_HEADER; only its owner or its manage key withdraws it or hands it over",
    takes: oneOf("maker", "everybody"),
  },
} satisfies Record<string, Setting>;
