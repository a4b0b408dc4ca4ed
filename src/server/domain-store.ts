import { type Code, splitKey } from "../links/code.ts";
import type { Link } from "../links/link.ts";
import { isProblem } from "../links/problem.ts";
import type { Secret } from "../links/secret.ts";
import type { LinkId, NewLink } from "../links/store.ts";
import type { Store, StoreReader } from "../store/open.ts";

/**
 * Limits a store to the links of one domain, under the codes that people see. Only this keeps domains apart: it refuses
 * codes with a slash, which could name another domain's link.
 */
export function readerOf<S extends Pick<StoreReader, "find" | "sums" | "days" | "daySums" | "journal">>(
  store: S,
  keyPrefix: string,
): S {
  const { keyOf } = keysOf(keyPrefix);
  return {
    ...store,
    find: finderOf(store.find, keyPrefix),
    sums: (code: Code, createdMs: number) => store.sums(keyOf(code), createdMs),
    days: (code: Code, ...range: [number, number, number]) => store.days(keyOf(code), ...range),
    daySums: (code: Code, ...range: [number, number, number]) => store.daySums(keyOf(code), ...range),
    journal: (query: Parameters<S["journal"]>[0]) =>
      store.journal(query.code === undefined ? query : { ...query, code: keyOf(query.code) }),
  };
}

/** Does the same for the store of the serving thread. `isOnly`: there are no other domains. */
export function storeOf(store: Store, keyPrefix: string, isOnly: boolean): Store {
  const { keyOf, withKey } = keysOf(keyPrefix);
  const { findNow, findNear } = store;
  const reading = {
    ...readerOf(store, keyPrefix),
    findNow:
      findNow && ((code: Code) => (code.includes("/") ? undefined : withoutPrefix(findNow(keyOf(code))))),
    findNear: findNear && finderOf(findNear, keyPrefix),
  };
  if (isOnly) return reading;
  const toKey = <T extends NewLink>(link: T): T => ({
    ...link,
    code: (link.keyPrefix ?? keyPrefix) + link.code,
  });
  return {
    ...reading,
    insert: async (links) => (await store.insert(links.map(toKey))).map(withoutPrefix),
    async insertOnce(links, request) {
      const records = await store.insertOnce(links.map(toKey), request);
      return "kind" in records ? records : records.map(withoutPrefix);
    },
    async recall(request) {
      const records = await store.recall(request);
      return "kind" in records ? records : records.map(withoutPrefix);
    },
    async update(link, change) {
      const updated = await store.update(withKey(link), change);
      return { ...updated, link: withoutPrefix(updated.link) };
    },
    report: (report) => store.report(withKey(report)),
  };
}

/** Makes a domain's manage keys and other signatures invalid for a link of another domain with the same code. */
export function secretOf(secret: Secret, keyPrefix: string): Secret {
  if (keyPrefix === "") return secret;
  const { withKey } = keysOf(keyPrefix);
  return {
    hash: (purpose, parts) => secret.hash(purpose, [keyPrefix, ...parts]),
    manageKey: (link) => secret.manageKey(withKey(link)),
    isManageKey: (given, link) => secret.isManageKey(given, withKey(link)),
  };
}

function keysOf(keyPrefix: string) {
  const keyOf = (code: Code) => (keyPrefix + code) as Code;
  return { keyOf, withKey: <T extends LinkId>(link: T): T => ({ ...link, code: keyOf(link.code) }) };
}

function finderOf(find: (key: Code) => Promise<Link | undefined>, keyPrefix: string) {
  return async (code: Code) =>
    code.includes("/") ? undefined : withoutPrefix(await find((keyPrefix + code) as Code));
}

/** Leaves problems and codes without a prefix as they are. */
function withoutPrefix<T>(one: T): T {
  if (typeof one !== "object" || one === null || isProblem(one) || !("code" in one)) return one;
  const key = one.code as string;
  return key.includes("/") ? { ...one, code: splitKey(key).code } : one;
}
