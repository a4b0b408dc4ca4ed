import type { Source } from "../source.ts";
import { openDatabase } from "./database.ts";
import { count, readRow, text, unixSeconds } from "./values.ts";

const EXPECTED =
  "Curt reads the SQLite file of Chhoto URL, which its setting CHHOTO_DB_URL names, such as urls.sqlite";

export const CHHOTO: Source = {
  reads: "its SQLite file",
  async *read(input) {
    using database = openDatabase(input, EXPECTED);
    const columns = database.columns("urls");
    const missing = ["short_url", "long_url", "hits"].find((column) => !columns.includes(column));
    if (missing !== undefined) throw database.wrong(`has no table urls with a column ${missing}`);
    let nth = 0;
    for (const row of database.rows("SELECT * FROM urls ORDER BY rowid")) {
      const place = `row ${++nth} of urls`;
      yield readRow(place, row["short_url"], () => {
        const code = text(row["short_url"], "short URL");
        return {
          kind: "link",
          key: code,
          place,
          code,
          url: text(row["long_url"], "long URL"),
          endsMs: unixSeconds(row["expiry_time"]),
          visits: count(row["hits"]),
        };
      });
    }
  },
};
