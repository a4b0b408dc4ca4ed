import type { Link } from "../links/link.ts";
import type { LinkId } from "../links/store.ts";
import type { Kind, LinkDay } from "../store/records.ts";
import { readExport, type ReadOptions } from "./read-export.ts";
import type { Input, SourceItem } from "./source.ts";

/** Takes links and visits out of an export. All else is counted by `onOther`: it belongs to the store it comes from. */
export async function* readLinksAndVisits(
  { bytes }: Pick<Input, "bytes">,
  { onBroken, onOther }: ReadOptions & { readonly onOther: (kind: Kind) => void },
): AsyncGenerator<SourceItem> {
  for await (const { kind, records, line } of readExport(bytes(), { onBroken }))
    for (const [nth, record] of records.entries()) {
      if (kind === "link") yield toLink(record as Link, `line ${line + nth}`);
      else if (kind === "day") yield toVisits(record as LinkDay);
      else onOther(kind);
    }
}

function toLink(
  { code, originalUrl, target, createdMs, endsMs, disabled, terms }: Link,
  place: string,
): SourceItem {
  return {
    kind: "link",
    key: keyOf({ code, createdMs }),
    place,
    code,
    url: originalUrl,
    target,
    createdMs,
    endsMs,
    disabled,
    terms,
  };
}

function toVisits({ code, createdMs, day, visits, bots, detail }: LinkDay): SourceItem {
  return {
    kind: "visits",
    key: keyOf({ code, createdMs }),
    day,
    visits,
    bots,
    detail: detail ?? undefined,
  };
}

function keyOf({ code, createdMs }: LinkId): string {
  return `${createdMs} ${code}`;
}
