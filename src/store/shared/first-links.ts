import type { CodeCase } from "../../links/code.ts";
import { type LinkStore, StoreUnavailable } from "../../links/link-store.ts";
import type { ModerationStore } from "../../moderation/moderation-store.ts";

type Creates = Pick<LinkStore, "insert" | "insertOnce">;

/** `kept`: the rule of the store. */
export function otherCodeCase(kept: CodeCase): string {
  return `CODE_CASE must be ${kept}, which this store keeps since its first link. For the other value, import its export into a new store`;
}

/**
 * The store, which fixes its rule for capitals in codes before this process creates its first link. Until any process does, a start
 * with another CODE_CASE may change the rule. Creates by the former one then fail, because nobody would find their links.
 */
export function fixingCodeCase<S extends Creates & Pick<ModerationStore, "fixCodeCase">>(
  store: S,
  codeCase: CodeCase,
): S {
  let isFixed = false;

  async function fix(): Promise<void> {
    const kept = await store.fixCodeCase(codeCase);
    if (kept !== codeCase) throw new StoreUnavailable(otherCodeCase(kept));
    isFixed = true;
  }

  const creates: Creates = {
    async insert(links) {
      if (!isFixed) await fix();
      return store.insert(links);
    },
    async insertOnce(links, request) {
      if (!isFixed) await fix();
      return store.insertOnce(links, request);
    },
  };
  return { ...store, ...creates };
}
