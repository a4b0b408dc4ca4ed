// The owners and destinations that decisions and people replace.
import { ownedBy } from "../../links/change.ts";
import type { EntryId } from "../../links/link-store.ts";
import type { StoredLink } from "../../links/link.ts";
import { parseTerms, termsJson } from "../../links/terms/term-values.ts";
import { type LockedLink, recordChange } from "./locked-links.ts";
import { insertInto, type Run } from "./sql.ts";

const COLUMNS = "replaced (entry, kind, subject, created_ms, value, became)";

/** Records the owner and the destination that a person has replaced. */
export async function keepValues(
  run: Run,
  entry: EntryId,
  before: StoredLink,
  after: StoredLink,
): Promise<void> {
  const { code, createdMs } = after;
  const values = [
    ["owner", before.terms?.owner, after.terms?.owner],
    ["target", before.originalUrl, after.originalUrl],
  ] as const;
  await insertInto(
    run,
    COLUMNS,
    values.flatMap(([kind, was, is]) => (was === is ? [] : [[entry, kind, code, createdMs, was, is]])),
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
