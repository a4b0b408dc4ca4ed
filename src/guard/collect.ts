import type { LinkId } from "../links/store.ts";

/** More links than that are changed by blocking their host, or in several searches. */
const MAX_COLLECTED = 10_000;
/** Parts of a search. Each looks at a bounded number of links. */
const MAX_PARTS = 2000;

export interface Collected {
  readonly links: readonly LinkId[];
  /** How many of them lead to each host. */
  readonly hosts: ReadonlyMap<string, number>;
}

export interface TooMany {
  readonly kind: "too-many";
  readonly max: number;
}

export interface FoundPart {
  readonly links: readonly (LinkId & { readonly host: string })[];
  readonly cursor?: string | undefined;
}

/** Everything that a search finds, read part by part. */
export async function collect(
  read: (cursor: string | undefined) => Promise<FoundPart>,
): Promise<Collected | TooMany> {
  const links: LinkId[] = [];
  const hosts = new Map<string, number>();
  let cursor: string | undefined;
  for (let part = 0; part < MAX_PARTS && links.length <= MAX_COLLECTED; part++) {
    const found = await read(cursor);
    for (const { code, createdMs, host } of found.links) {
      links.push({ code, createdMs });
      // Deleted links lead nowhere.
      if (host !== "") hosts.set(host, (hosts.get(host) ?? 0) + 1);
    }
    ({ cursor } = found);
    if (cursor === undefined && links.length <= MAX_COLLECTED) return { links, hosts };
  }
  return { kind: "too-many", max: MAX_COLLECTED };
}
