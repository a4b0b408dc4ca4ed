import type { KeyedRequest, Made } from "../../links/store.ts";
import { columnsOf, GIVEN_LINKS, LINK_COLUMNS, toLink } from "./link-row.ts";
import { reading, type Tables, writing } from "./record-table.ts";

const LINKS = `SELECT ${LINK_COLUMNS} FROM links ORDER BY created_ms, code`;
const ADD_LINKS = `
  INSERT INTO links (code, original_url, target, created_ms, ends_ms, disabled, terms)
  SELECT code, original_url, target, created_ms, ends_ms, ($7::text[])[nth], terms FROM ${GIVEN_LINKS}
  ON CONFLICT DO NOTHING`;
const REQUESTS = `SELECT key, body, sent_ms AS "sentMs", made FROM requests ORDER BY sent_ms, key`;
const ADD_REQUESTS = `
  INSERT INTO requests (key, body, sent_ms, made)
  SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) ON CONFLICT DO NOTHING`;

export const LINK_RECORDS: Tables<"link" | "request"> = {
  link: {
    read: reading(LINKS, toLink),
    write: writing(ADD_LINKS, (links) => [...columnsOf(links), links.map(({ disabled }) => disabled)]),
  },
  request: {
    read: reading(REQUESTS, ({ made, ...request }: KeyedRequest & { made: string }) => ({
      ...request,
      made: JSON.parse(made) as Made[],
    })),
    write: writing(ADD_REQUESTS, (requests) => [
      requests.map(({ key }) => key),
      requests.map(({ body }) => body),
      requests.map(({ sentMs }) => sentMs),
      requests.map(({ made }) => JSON.stringify(made)),
    ]),
  },
};
