// The owners, destinations and terms that decisions and people replace.
import { applyChange, type Edit, ownedBy } from "../../links/change.ts";
import type { EntryId } from "../../links/link-store.ts";
import { hasEnded, hasPassword, type StoredLink } from "../../links/link.ts";
import type { Target } from "../../links/target.ts";
import { changesOf, parseTerms, readTermText, termsJson, termTexts } from "../../links/terms/term-values.ts";
import { type Building, OPEN_NAMES, type OpenName, type WantedTerms } from "../../links/terms/terms.ts";
import type { Replaced } from "../../moderation/moderation-store.ts";
import { type LockedLink, recordChange } from "./locked-links.ts";
import type { ReplacedRow } from "./records.ts";
import { insertInto, type Run } from "./sql.ts";

const COLUMNS = "replaced (entry, kind, subject, created_ms, value, became)";

type Values = ReadonlyMap<Replaced["kind"], string | undefined>;

function valuesOf(link: StoredLink): Values {
  return new Map<Replaced["kind"], string | undefined>([["target", link.originalUrl], ...termTexts(link)]);
}

/** The kinds of values that holders of the key can change without an entry. */
const CHANGEABLE: readonly Replaced["kind"][] = ["target", ...OPEN_NAMES];
/** The same for SQL. Erasing a link erases them, because people wrote them. */
export const WRITTEN = CHANGEABLE.map((kind) => `'${kind}'`).join(", ");

export function isChangeable({ kind }: Pick<ReplacedRow, "kind">): boolean {
  return CHANGEABLE.includes(kind);
}

/** Whether a link still has the values that an entry gave it. */
export function stillHas(link: StoredLink, rows: readonly Pick<ReplacedRow, "kind" | "became">[]): boolean {
  const values = valuesOf(link);
  return rows.every((row) => !isChangeable(row) || values.get(row.kind) === (row.became ?? undefined));
}

/** A link with its former owner, destination and terms. Undefined if it can't change, would start in the past, or would have ended. */
export function withFormer(
  link: StoredLink,
  rows: readonly Pick<ReplacedRow, "kind" | "value">[],
  atMs: number,
): StoredLink | undefined {
  let destination: Edit["destination"];
  const terms: Building<WantedTerms> = {};
  for (const { kind, value } of rows)
    if (kind === "target") {
      const originalUrl = value ?? "";
      // It was accepted before, so it can be parsed.
      destination = { originalUrl, target: (URL.parse(originalUrl)?.href ?? originalUrl) as Target };
    } else if (isOpenName(kind)) {
      const former = readTermText(kind, value);
      if (former === undefined) return undefined;
      Object.assign(terms, former);
    }
  const changes = changesOf(terms, atMs);
  const after = applyChange(link, { type: "edit", atMs, destination, ...changes });
  if (after === undefined || hasEnded(after, atMs) || (changes.startsMs ?? Infinity) < atMs) return undefined;
  const owner = rows.find(({ kind }) => kind === "owner");
  return owner === undefined ? after : { ...after, terms: ownedBy(after.terms, owner.value ?? undefined) };
}

function isOpenName(kind: Replaced["kind"]): kind is OpenName {
  return OPEN_NAMES.some((name) => name === kind);
}

/** Records the values that a person replaces. While the link has a password, only its owner. */
export async function keepValues(
  run: Run,
  entry: EntryId,
  before: StoredLink,
  after: StoredLink,
): Promise<void> {
  const { code, createdMs } = after;
  const isSecret = hasPassword(before) || hasPassword(after);
  const [was, is] = [before, after].map(
    (link): Values => new Map([["owner", link.terms?.owner], ...(isSecret ? [] : valuesOf(link))]),
  ) as [Values, Values];
  await insertInto(
    run,
    COLUMNS,
    [...was].flatMap(([kind, value]) =>
      value === is.get(kind) ? [] : [[entry, kind, code, createdMs, value, is.get(kind)]],
    ),
  );
}

/** Sets the owner of locked links, and records the former ones. Returns how many changed. */
export async function setOwners(
  run: Run,
  entry: EntryId,
  links: readonly LockedLink[],
  owner: string,
): Promise<number> {
  await insertInto(
    run,
    COLUMNS,
    links.map(({ code, createdMs, terms }) => [
      entry,
      "owner",
      code,
      createdMs,
      parseTerms(terms)?.owner,
      owner,
    ]),
  );
  return writeOwners(
    run,
    links.map((link) => ({ ...link, owner })),
  );
}

/** Links per statement. Each has two parameters. */
const OWNERS_AT_ONCE = 500;

/** Writes the owners of locked links, with new generations of keys where another one owned it. Returns how many changed. */
export async function writeOwners(
  run: Run,
  links: readonly (LockedLink & { readonly owner: string | undefined })[],
): Promise<number> {
  const changed = links.flatMap((link) => {
    const before = parseTerms(link.terms);
    const terms = ownedBy(before, link.owner);
    return terms === before ? [] : [{ ...link, terms }];
  });
  if (changed.length === 0) return 0;
  await recordChange(run, changed);
  for (let from = 0; from < changed.length; from += OWNERS_AT_ONCE) {
    const some = changed.slice(from, from + OWNERS_AT_ONCE);
    const rows = some.map((_, nth) => `($${nth * 2 + 1}, $${nth * 2 + 2})`).join(", ");
    // Both engines call the columns of VALUES so.
    await run(
      `UPDATE links SET terms = given.column2 FROM (VALUES ${rows}) AS given WHERE links.code = given.column1`,
      some.flatMap(({ code, terms }) => [code, termsJson({ terms })]),
    );
  }
  return changed.length;
}
