import type { Source } from "../source.ts";
import { readObjects } from "./json-objects.ts";
import { openScanner } from "./scanner.ts";
import { BadRow, readRow, text, unixSeconds } from "./values.ts";

const EXPECTED =
  "Curt reads the JSON file that Sink exports (Dashboard, Migrate, Export), or a backup of its links";

export const SINK: Source = {
  reads: "its JSON export",
  async *read(input) {
    const scanner = await openScanner(input, EXPECTED);
    for await (const { place, value } of readObjects(scanner, ["links", ""]))
      yield readRow(place, value["slug"], () => {
        if ((value["password"] ?? "") !== "") throw new BadRow("it has a password");
        const code = text(value["slug"], "slug");
        return {
          kind: "link",
          key: code,
          place,
          code,
          url: text(value["url"], "URL"),
          createdMs: unixSeconds(value["createdAt"]),
          endsMs: unixSeconds(value["expiration"]),
        };
      });
  },
};
