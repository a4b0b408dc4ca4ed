import { addressOf, codeOf, KEY, MAX_LINKS, type Made, pathOf } from "./made-list.ts";

/** Of the format of files. */
const VERSION = 1;
const MAX_BYTES = 5_000_000;
/** No code has a longer spelling, and no target is longer. */
const MAX_ADDRESS_LENGTH = 2000;
const MAX_TARGET_LENGTH = 8192;
/** As `toISOString` writes it. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** A list of links as it is saved in a file, for another browser. */
interface Saved {
  readonly version: number;
  readonly links: readonly SavedLink[];
}

interface SavedLink {
  readonly address: string;
  readonly target?: string | undefined;
  readonly created: string;
  readonly manage_key?: string | undefined;
}

/** Why a file is not taken: the name of a message of the page, and what stands in it. */
export interface Refusal {
  readonly refusal: string;
  readonly value?: string;
}

/** Offers the list as a download. */
export function saveFile(list: readonly Made[], base: string): void {
  const saved: Saved = {
    version: VERSION,
    links: list.map((made) => ({
      address: addressOf(codeOf(made), base),
      target: made.target,
      created: made.created,
      manage_key: made.key,
    })),
  };
  const file = new Blob([JSON.stringify(saved, null, 2)], { type: "application/json" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = `${new URL(base).hostname}-links.json`;
  link.click();
  // The browser has taken it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Reads a file of links of this service. It is taken as a whole or not at all. */
export async function readFile(file: File, base: string): Promise<readonly Made[] | Refusal> {
  if (file.size > MAX_BYTES) return { refusal: "fileLarge" };
  const saved = parse(await file.text());
  if (saved === undefined) return { refusal: "fileFormat" };
  if (saved.version !== VERSION) return { refusal: "fileVersion" };
  if (saved.links.length > MAX_LINKS) return { refusal: "fileMany" };
  const list: Made[] = [];
  for (const [at, one] of saved.links.entries()) {
    const made = readLink(one, base);
    if (made === undefined) return { refusal: "fileEntry", value: String(at + 1) };
    list.push(made);
  }
  return list;
}

function parse(text: string): Saved | undefined {
  try {
    const saved = JSON.parse(text) as Partial<Saved> | null;
    return typeof saved?.version === "number" && Array.isArray(saved.links) ? (saved as Saved) : undefined;
  } catch {
    return undefined;
  }
}

function readLink(one: Partial<Record<keyof SavedLink, unknown>> | null, base: string): Made | undefined {
  const { address, target, created, manage_key: key } = one ?? {};
  const path = pathAt(address, base);
  if (path === undefined) return undefined;
  if (typeof created !== "string" || !INSTANT.test(created) || Number.isNaN(Date.parse(created)))
    return undefined;
  if (key !== undefined && !(typeof key === "string" && KEY.test(key))) return undefined;
  if (target !== undefined && !(typeof target === "string" && isTarget(target))) return undefined;
  return { path, created, key, target };
}

function isTarget(target: string): boolean {
  return target.length <= MAX_TARGET_LENGTH && /^https?:\/\//i.test(target) && URL.canParse(target);
}

/** Only short addresses of this service are taken: its own, one segment, and nothing that cannot be in a code. */
function pathAt(address: unknown, base: string): string | undefined {
  if (typeof address !== "string" || address.length > MAX_ADDRESS_LENGTH || !address.startsWith(`${base}/`))
    return undefined;
  const [, segment = ""] = /^([^/?#+.\\\s]+)\/?$/.exec(address.slice(base.length + 1)) ?? [];
  try {
    const code = decodeURIComponent(segment);
    return code !== "" && code.isWellFormed() && !/[/?+.\\\s\p{Cc}]/u.test(code) ? pathOf(code) : undefined;
  } catch {
    return undefined;
  }
}

/** The links of both, each once: of two for one code, that which is in the list already. */
export function merge(list: readonly Made[], loaded: readonly Made[]): Made[] {
  const merged = new Map(loaded.map((made) => [made.path, made]));
  for (const made of list) {
    const other = merged.get(made.path);
    const isSame = other?.created === made.created;
    merged.set(
      made.path,
      isSame ? { ...made, key: made.key ?? other.key, target: made.target ?? other.target } : made,
    );
  }
  return [...merged.values()];
}
