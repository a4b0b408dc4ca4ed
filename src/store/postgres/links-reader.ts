import type { Code } from "../../links/code.ts";
import type { Link } from "../../links/link.ts";
import type { LinkStore } from "../../links/store.ts";
import { createCommits } from "../commits.ts";
import { isStorable } from "../shared/sql.ts";
import { type Statements, WAIT_SHARE } from "./connection/database.ts";
import { LINK_COLUMNS, type LinkRow, toLink } from "./link-row.ts";

/** Look-ups that wait for each other share a round trip. A second one begins while the first takes long. */
const LOOK_UPS = { waiting: 10_000, batch: 200, atOnce: 3 };

const FIND = `SELECT ${LINK_COLUMNS} FROM links WHERE code = ANY ($1)`;

/** Look-ups. */
export function createLinksReader({ run, limitMs }: Pick<Statements, "run" | "limitMs">) {
  const lookUps = createCommits({ ...LOOK_UPS, waitMs: WAIT_SHARE * limitMs }, findAll);

  async function findAll(codes: readonly Code[]): Promise<(Link | undefined)[]> {
    const { rows } = await run<LinkRow>(FIND, [[...new Set(codes)]]);
    const found = new Map(rows.map((row) => [row.code, toLink(row)]));
    return codes.map((code) => found.get(code));
  }

  return {
    async find(code) {
      if (!isStorable(code)) return undefined;
      const [link] = await lookUps.add([code]);
      return link;
    },
  } satisfies Partial<LinkStore>;
}
