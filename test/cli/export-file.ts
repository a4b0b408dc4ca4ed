// Files as `curt export` writes them.
import { NOW } from "../stores/links.ts";

/** A file with so many links, each with a day of visits. */
export function manyLines(links: number): string {
  const created = new Date(NOW).toISOString();
  const lines = [HEAD];
  for (let nth = 0; nth < links; nth++)
    lines.push(JSON.stringify({ kind: "link", code: `c${nth}`, url: `https://example.com/${nth}`, created }));
  const codes = Array.from({ length: links }, (_, nth) => `c${nth}`).toSorted();
  for (const code of codes)
    lines.push(
      JSON.stringify({
        kind: "day",
        code,
        created,
        day: "2026-11-20",
        visits: 2,
        bots: 1,
        visitors: 0,
      }),
    );
  for (let nth = 0; nth < 9; nth++)
    lines.push(
      JSON.stringify({
        kind: "entry",
        at: created,
        who: "api",
        action: "block-host",
        host: `h${nth}.example`,
      }),
    );
  return ended(lines, { link: links, day: links, entry: 9 });
}

/** With the last line of an export. */
export function ended(lines: readonly string[], counts: { readonly [kind: string]: number }): string {
  const text = lines.map((line) => `${line}\n`).join("");
  const records = {
    link: 0,
    day: 0,
    secret: 0,
    host: 0,
    entry: 0,
    case: 0,
    counter: 0,
    request: 0,
    ...counts,
  };
  const sha256 = new Bun.CryptoHasher("sha256").update(text).digest("hex");
  return `${text}${JSON.stringify({ kind: "end", records, sha256 })}\n`;
}

export function linkLine(code: string, url = "https://example.com/"): string {
  return JSON.stringify({ kind: "link", code, url, created: new Date(NOW).toISOString() });
}

export const HEAD = '{"format":"curt-export","version":1}';
