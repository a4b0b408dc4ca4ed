import type { Code } from "../links/code.ts";
import type { Link } from "../links/link.ts";
import type { ArrivingLink, Intake } from "../store/intake.ts";
import { arrive, type ArrivalRules, isSameLink, type Refused } from "./arriving-link.ts";
import type { SourceItem } from "./source.ts";
import { openStage, type StagedLink } from "./stage.ts";

/** Links in one transaction. Creates wait for it, some 30 ms. */
const PART_LINKS = 2000;

/** A row that is not taken in, and why. */
export interface Left {
  readonly place: string;
  readonly code: string;
  readonly why: Why;
}

export type Why =
  | { readonly kind: "refused"; readonly by: Refused }
  /** In the words of the source. */
  | { readonly kind: "row"; readonly reason: string }
  /** Another link has the code, in the store or earlier in the file. */
  | { readonly kind: "conflict"; readonly with: "store" | "file" };

export interface Outcome {
  /** Links in the file, without the rows that its source refused. */
  readonly links: number;
  readonly added: number;
  /** The same links were there already. */
  readonly known: number;
  readonly left: number;
  /** Of the added links, by people and programs. */
  readonly visits: number;
}

export interface TakeInOptions extends ArrivalRules {
  /** Without one, nothing is written. */
  readonly intake: Pick<Intake, "add"> | undefined;
  find(code: Code): Promise<Link | undefined>;
  /** Called for every row that is not taken in. */
  onLeft(left: Left): void;
  onRead?: (() => void) | undefined;
  onTaken?: ((progress: { readonly done: number; readonly all: number }, count: number) => void) | undefined;
}

/** Reads a whole source, then adds its links. If this is cut off, the next call passes over what is there. */
export async function takeIn(items: AsyncIterable<SourceItem>, options: TakeInOptions): Promise<Outcome> {
  const { onLeft, onRead, onTaken } = options;
  using stage = openStage();
  const sums = { added: 0, known: 0, left: 0, visits: 0 };
  const leave = (left: Left) => {
    sums.left++;
    onLeft(left);
  };
  for await (const item of items) {
    if (item.kind === "link") {
      stage.addLink(item);
      onRead?.();
    } else if (item.kind === "visits") stage.addVisits(item);
    else leave({ place: item.place, code: item.code, why: { kind: "row", reason: item.reason } });
  }
  const all = stage.count();
  let done = 0;
  for (const part of stage.parts(PART_LINKS)) {
    const arriving: { staged: StagedLink; link: ArrivingLink }[] = [];
    for (const staged of part) {
      const link = arrive(staged, options);
      if ("rule" in link) leave({ ...placeOf(staged), why: { kind: "refused", by: link } });
      else if (!stage.isFirst(link.code))
        leave({ ...placeOf(staged), why: { kind: "conflict", with: "file" } });
      else arriving.push({ staged, link });
    }
    const known = await look(
      arriving.map(({ link }) => link),
      options,
    );
    for (const [nth, { staged, link }] of arriving.entries()) {
      const found = known[nth];
      if (found === undefined) {
        sums.added++;
        sums.visits += link.days.reduce((sum, { visits, bots }) => sum + visits + bots, 0);
      } else if (isSameLink(found, link, staged)) sums.known++;
      else leave({ ...placeOf(staged), why: { kind: "conflict", with: "store" } });
    }
    done += part.length;
    onTaken?.({ done, all }, part.length);
  }
  return { links: all, ...sums };
}

/** The links that are there already. */
function look(links: readonly ArrivingLink[], { intake, find }: TakeInOptions) {
  return intake === undefined ? Promise.all(links.map(({ code }) => find(code))) : intake.add(links);
}

function placeOf({ place, code }: StagedLink): Pick<Left, "place" | "code"> {
  return { place, code };
}
