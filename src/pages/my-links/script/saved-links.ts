import { read, write } from "../../shared/script/storage.ts";

/** The key of the list in local storage. The list never leaves this browser. */
export const LIST = "curt.made-here";
/** Local storage has room for about five million characters, and a link takes 300. */
const MAX_LINKS = 10_000;

/** A link that was made in this browser. */
export interface Made {
  /** Its address in the API. The last segment is its code. */
  readonly path: string;
  /** To notice if the code now belongs to a newer link. */
  readonly created: string;
  /** The manage key. Links that were made before this was kept have none. */
  readonly key?: string | undefined;
  readonly target?: string | undefined;
  /** What the service told of it last. */
  readonly told?: Told | undefined;
}

export interface Told {
  readonly state: string;
  readonly visits: number;
  /** When it ends; null if never. */
  readonly ends: string | null;
  readonly atMs: number;
}

/** The latest first. What cannot be read is left out. */
export function madeHere(): Made[] {
  try {
    const list: unknown = JSON.parse(read("localStorage", LIST) ?? "[]");
    return Array.isArray(list) ? list.filter(isMade).slice(0, MAX_LINKS).map(withoutSpoilt) : [];
  } catch {
    return [];
  }
}

/**
 * Reads the list first, because another tab may have changed it. Returns false if the browser did not keep the change.
 */
export function changeMade(change: (list: Made[]) => readonly Made[]): boolean {
  const list = change(madeHere())
    .toSorted((one, other) => (one.created < other.created ? 1 : one.created > other.created ? -1 : 0))
    .slice(0, MAX_LINKS);
  return write("localStorage", LIST, list.length === 0 ? null : JSON.stringify(list));
}

/** Keeps what the service said of these links, so that it can be searched and shown while the service is away. */
export function keepTold(links: readonly Made[]): void {
  if (links.length === 0) return;
  const fresh = new Map(links.map((made) => [made.path, made]));
  changeMade((list) =>
    list.map((made) => {
      const { created, target, told } = fresh.get(made.path) ?? {};
      return created === made.created ? { ...made, target, told } : made;
    }),
  );
}

export function codeOf({ path }: Pick<Made, "path">): string {
  return decodeURIComponent(path.slice(path.lastIndexOf("/") + 1));
}

export function pathOf(code: string): string {
  return `/api/v1/links/${encodeURIComponent(code)}`;
}

/** The short address of a code, as the service writes it. */
export function addressOf(code: string, base: string): string {
  return `${base}/${code.replaceAll("#", "%23")}/`;
}

function isMade(one: Partial<Made> | null): one is Made {
  return (
    typeof one?.path === "string" &&
    typeof one.created === "string" &&
    isTextOrAbsent(one.key) &&
    isTextOrAbsent(one.target) &&
    isReadable(one.path)
  );
}

/** What was told can be asked for again. */
function withoutSpoilt(made: Made): Made {
  return isTold(made.told) ? made : { ...made, told: undefined };
}

function isTold(told: Partial<Told> | null | undefined): told is Told {
  return (
    typeof told?.state === "string" &&
    typeof told.visits === "number" &&
    typeof told.atMs === "number" &&
    (told.ends === null || typeof told.ends === "string")
  );
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

function isReadable(path: string): boolean {
  try {
    return codeOf({ path }).isWellFormed();
  } catch {
    return false;
  }
}
