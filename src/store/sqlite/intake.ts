import type { Code } from "../../links/code.ts";
import type { Link } from "../../links/link.ts";
import type { ArrivingLink, Intake } from "../intake.ts";
import { LINK_COLUMNS, type LinkRow, toLink } from "../shared/link-row.ts";
import { openWriter } from "./file/file.ts";
import { writeDays } from "./link-records.ts";
import { ADD_LINK, columnsOf } from "./links.ts";
import { trying } from "./sql.ts";

const FIND = `SELECT ${LINK_COLUMNS} FROM links WHERE code = ?1`;

/** Opens a file to which links are added, made or migrated where needed. Throws {@link StoreUnusable}. */
export function openSqliteIntake(path: string): Intake {
  const database = openWriter(path);
  const addLink = database.statement<unknown, (string | number | null)[]>(ADD_LINK);
  const find = database.statement<LinkRow, [Code]>(FIND);

  function addOne(link: ArrivingLink): Link | undefined {
    const { code, createdMs } = link;
    if (addLink.run(...columnsOf(link)).changes === 0) {
      const row = find.get(code);
      if (row === null) throw new Error(`The link of ${code} is there and cannot be found`);
      return toLink(code, row);
    }
    writeDays(
      database,
      link.days.map((day) => ({ ...day, code, createdMs })),
    );
    return undefined;
  }

  const addAll = database.transaction((links: readonly ArrivingLink[]) => links.map(addOne));

  return {
    add: async (links) => trying(() => addAll.immediate(links)),
    close: async () => database.close(),
  };
}
