import { type Code, keyOf, type LinkKey, splitKey } from "../links/code.ts";
import type { LinkId, LinkStore, OwnedQuery } from "../links/link-store.ts";
import type { Link } from "../links/link.ts";
import type { KeyedLink, Secret } from "../links/secret.ts";
import type { LinkHistory } from "../moderation/corrections.ts";
import type { LinkDecisions } from "../moderation/inspection.ts";
import type { Store, StoreReader } from "../store/open.ts";

/** Reads the links of one domain for pages, by the codes that people see. */
export interface DomainReader
  extends Pick<Store<Code>, "find" | "sums" | "days" | "daySums">, LinkDecisions, LinkHistory {
  owned(query: Omit<OwnedQuery<Code>, "keyPrefix">): Promise<readonly Link[]>;
}

/** All that handlers may do with the links of one domain, by the codes that people see. */
export type DomainStore = Pick<
  Store<Code>,
  | "find"
  | "findNow"
  | "findNear"
  | "size"
  | "insert"
  | "insertOnce"
  | "recall"
  | "update"
  | "change"
  | "report"
  | "undo"
  | "sums"
  | "salt"
>;

/**
 * Limits a store to the links of one domain. It lists each method, so that a new one of the store reaches no handler by
 * itself. Look-ups refuse codes with a slash, which could name another domain's link.
 */
export function readerOf(
  store: Pick<StoreReader, "find" | "owned" | "sums" | "days" | "daySums" | "decisions">,
  keyPrefix: string,
): DomainReader {
  const key = (code: Code) => keyOf(keyPrefix, code);
  return {
    find: finderOf(store.find, keyPrefix),
    async owned({ after, ...query }) {
      const from = after && withKey(after, keyPrefix);
      return (await store.owned({ ...query, keyPrefix, after: from })).map(withCode);
    },
    sums: (code, createdMs) => store.sums(key(code), createdMs),
    days: (code, ...range) => store.days(key(code), ...range),
    daySums: (code, ...range) => store.daySums(key(code), ...range),
    decisions: ({ code, createdMs }, limit) =>
      store.decisions({ link: { code: key(code), createdMs }, limit }),
    history: ({ code, createdMs }, limit) =>
      store.decisions({ link: { code: key(code), createdMs }, forColleagues: true, limit }),
  };
}

/** Does the same for the store of the serving thread. Creates have keys already (`links/create.ts`). */
export function storeOf(store: Store, keyPrefix: string): DomainStore {
  const { findNow, findNear } = store;
  return {
    find: finderOf(store.find, keyPrefix),
    findNow:
      findNow &&
      ((code) => {
        if (code.includes("/")) return undefined;
        const link = findNow(keyOf(keyPrefix, code));
        return link && withCode(link);
      }),
    findNear: findNear && finderOf(findNear, keyPrefix),
    size: store.size,
    insert: store.insert,
    insertOnce: store.insertOnce,
    recall: store.recall,
    async update(link, change) {
      const updated = await store.update(withKey(link, keyPrefix), change);
      return { ...updated, link: updated.link && withCode(updated.link) };
    },
    async change(link, change, decision) {
      const updated = await store.change(withKey(link, keyPrefix), change, decision);
      return { ...updated, link: updated.link && withCode(updated.link) };
    },
    undo: (entry, decision, opened) => store.undo(entry, decision, opened && withKey(opened, keyPrefix)),
    report: (report) => store.report(withKey(report, keyPrefix)),
    sums: (code, createdMs) => store.sums(keyOf(keyPrefix, code), createdMs),
    salt: store.salt,
  };
}

/** Makes a domain's manage keys and other signatures invalid for a link of another domain with the same code. */
export function secretOf(secret: Secret<LinkKey>, keyPrefix: string): Secret {
  const idOf = ({ code, createdMs, terms }: KeyedLink<Code>) => ({
    code: keyOf(keyPrefix, code),
    createdMs,
    terms,
  });
  return {
    hash: keyPrefix === "" ? secret.hash : (purpose, parts) => secret.hash(purpose, [keyPrefix, ...parts]),
    manageKey: (link) => secret.manageKey(idOf(link)),
    isManageKey: (given, link) => secret.isManageKey(given, idOf(link)),
  };
}

function finderOf(find: LinkStore["find"], keyPrefix: string): LinkStore<Code>["find"] {
  return async (code) => {
    if (code.includes("/")) return undefined;
    const link = await find(keyOf(keyPrefix, code));
    return link && withCode(link);
  };
}

type WithId<T, Id extends Code | LinkKey> = Omit<T, "code"> & { readonly code: Id };

function withKey<T extends LinkId<Code>>(link: T, keyPrefix: string): WithId<T, LinkKey> {
  return { ...link, code: keyOf(keyPrefix, link.code) };
}

/** Keys without a prefix are codes, so those links need no copy. */
function withCode<T extends LinkId>(link: T): WithId<T, Code> {
  return link.code.includes("/")
    ? { ...link, code: splitKey(link.code).code }
    : (link as Omit<T, "code"> as WithId<T, Code>);
}
