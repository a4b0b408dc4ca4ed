import type { Core } from "../core.ts";
import { collect } from "../guard/collect.ts";
import type { Part } from "../guard/inspection.ts";
import { parseSearch } from "../guard/link-query.ts";
import type { RefusedDecision } from "../guard/operator.ts";
import type { Link } from "../links/link.ts";
import { isProblem } from "../links/problem.ts";
import type { LinkId } from "../links/store.ts";
import { targetHost } from "../links/target.ts";
import type { Arguments } from "./command.ts";
import { failBy, operate } from "./operate.ts";
import { fail, print, printRow, printRows, type Row } from "./print.ts";

type Given = Arguments["options"];

export const USUAL_LIMIT = 50;
/** What is read from the store at once. */
const READ_AT_ONCE = 200;

function textOf(options: Given, name: string): string {
  const value = options[name];
  return typeof value === "string" ? value : "";
}

export function decisionOf(options: Given) {
  return { reason: textOf(options, "reason"), note: textOf(options, "note") };
}

export function searchOf(options: Given) {
  const [q, host, state] = ["q", "host", "state"].map((name) => textOf(options, name)) as [
    string,
    string,
    string,
  ];
  return parseSearch({ q, host, state, made_from: textOf(options, "from"), made_to: textOf(options, "to") });
}

/** Reads a list part by part, up to the limit, and prints it. */
export async function list<T>(
  options: Given,
  read: (part: Part) => Promise<{ readonly items: readonly T[]; readonly cursor: string | undefined }>,
  toRow: (item: T) => Row,
  columns: readonly string[],
): Promise<number> {
  const limit = Number(textOf(options, "limit") || USUAL_LIMIT);
  if (!Number.isSafeInteger(limit) || limit < 1) return fail("--limit must be a whole number, 1 or more");
  const rows: Row[] = [];
  let cursor: string | undefined;
  do {
    const part = await read({ cursor, limit: Math.min(READ_AT_ONCE, limit - rows.length) });
    rows.push(...part.items.map(toRow));
    ({ cursor } = part);
  } while (cursor !== undefined && rows.length < limit);
  printRows(rows, columns, options["json"] === true);
  if (cursor !== undefined && options["json"] !== true)
    console.error("There are more; raise --limit to see them.");
  return 0;
}

interface Done {
  readonly code?: string;
  readonly host?: string;
  readonly changed: boolean;
}

/** Says whether something changed. */
export function tell(outcome: Done | RefusedDecision, options: Given): number {
  if (isProblem(outcome)) return failBy(outcome);
  if (options["json"] === true) printRow({ ...outcome }, true);
  else print(outcome.changed ? "Done." : "Nothing was changed: it is so already.");
  return 0;
}

type Decided = readonly LinkId[] | boolean | RefusedDecision | string;

/** A command that changes one link. A text is why it does not. */
export function changeLink(decide: (core: Core, link: Link, options: Given) => Promise<Decided>) {
  return operate(async (core, { positionals: [spelling = ""], options }) => {
    const link = await core.operator.look(spelling);
    if (isProblem(link)) return failBy(link);
    const outcome = await decide(core, link, options);
    if (typeof outcome === "string") return fail(outcome);
    if (typeof outcome !== "boolean" && isProblem(outcome)) return failBy(outcome);
    return tell(
      { code: link.code, changed: typeof outcome === "boolean" ? outcome : outcome.length > 0 },
      options,
    );
  });
}

/** A command that changes all links that a search finds. Without --yes it only says how many they are. */
export function changeFound(
  decide: (
    core: Core,
    links: readonly LinkId[],
    options: Given,
  ) => Promise<readonly LinkId[] | RefusedDecision>,
) {
  return operate(async (core, { options }) => {
    const query = searchOf(options);
    if (isProblem(query)) return failBy(query);
    const found = await collect(async (cursor) => {
      const { links, ...rest } = await core.inspection.find(query, { cursor, limit: READ_AT_ONCE });
      return { links: links.map((link) => ({ ...link, host: targetHost(link.target) })), ...rest };
    });
    if (isProblem(found)) return failBy(found);
    const count = found.links.length;
    const isJson = options["json"] === true;
    if (options["yes"] !== true) {
      const hosts = [...found.hosts].toSorted(([, one], [, other]) => other - one);
      if (isJson) printRow({ count, done: false, hosts: Object.fromEntries(hosts) }, true);
      else {
        printRows(
          hosts.map(([host, links]) => ({ host, links })),
          ["host", "links"],
          false,
        );
        print(`Links found: ${count}. Nothing was changed. Add --yes to go ahead.`);
      }
      return 0;
    }
    const changed = await decide(core, found.links, options);
    if (isProblem(changed)) return failBy(changed);
    if (isJson) printRow({ count, done: true, changed: changed.length }, true);
    else print(`Done. Links changed: ${changed.length} of ${count}.`);
    return 0;
  });
}
