import type { Database } from "bun:sqlite";

import { termsJson } from "../../links/change.ts";
import type { Code } from "../../links/code.ts";
import { type Link } from "../../links/link.ts";
import { NEVER_MS } from "../../links/time.ts";
import type { ArrivingLink, Intake } from "../intake.ts";
import { leaveCopy } from "./copied.ts";
import { openWriter } from "./file/file.ts";
import { LINK_COLUMNS, type LinkRow, toLink } from "./link-row.ts";
import { trying } from "./records.ts";

const ADD_LINK = `
  INSERT INTO links (code, original_url, target, created_ms, ends_ms, disabled, terms)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (code) DO NOTHING`;
const FIND = `SELECT ${LINK_COLUMNS} FROM links WHERE code = ?1`;
/** Visits of a link that was purged and is taken in again may still be there. */
const ADD_DAY = `
  INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
  ON CONFLICT (day, code, created_ms) DO NOTHING`;

type Value = string | number | Uint8Array | null;

/** Opens a file to which links are added, made or migrated where needed. Throws {@link StoreUnusable}. */
export function openSqliteIntake(path: string): Intake {
  const database = openWriter(path);
  try {
    leaveCopy(database, path);
    return adding(database);
  } catch (error) {
    database.close();
    throw error;
  }
}

function adding(database: Database): Intake {
  const addLink = database.prepare<unknown, Value[]>(ADD_LINK);
  const addDay = database.prepare<unknown, Value[]>(ADD_DAY);
  const find = database.prepare<LinkRow, [Code]>(FIND);

  function addOne(link: ArrivingLink): Link | undefined {
    const { code, originalUrl, target, createdMs, endsMs, disabled } = link;
    const isAdded =
      addLink.run(
        code,
        originalUrl,
        (target as string) === originalUrl ? null : target,
        createdMs,
        endsMs === NEVER_MS ? null : endsMs,
        disabled ?? null,
        termsJson(link),
      ).changes === 1;
    if (!isAdded) {
      const row = find.get(code);
      if (row === null) throw new Error(`The link of ${code} is there and cannot be found`);
      return toLink(code, row);
    }
    for (const { day, visits, bots, detail } of link.days)
      addDay.run(day, code, createdMs, visits, bots, detail);
    return undefined;
  }

  const addAll = database.transaction((links: readonly ArrivingLink[]) => links.map(addOne));

  return {
    add: async (links) => trying(() => addAll.immediate(links)),
    async close() {
      for (const statement of [addLink, addDay, find]) statement.finalize();
      database.close();
    },
  };
}
