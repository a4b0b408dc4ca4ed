import type { Fields } from "../../lib/bounds.ts";
import type { MessageKey, Values } from "../../locales/messages.ts";
import type { Inspection } from "../../moderation/inspection.ts";
import type { DecisionEntry } from "../../moderation/moderation-store.ts";

/** The part of a request that every page for the operator needs. */
export interface PageContext {
  readonly language: string;
  /** A message in the language. */
  readonly say: (key: MessageKey, values?: Values) => string;
  readonly formToken: string;
  /** The name of who is signed in. */
  readonly operator: string | undefined;
  readonly query: Readonly<Record<string, string>>;
  /** Up to {@link MAX_COUNTED_CASES}. */
  readonly openCases: number;
  readonly nowMs: number;
  /** Why the form's request wasn't carried out. */
  readonly refusal: string | undefined;
  /** The refused form, to show its text again. Without one, it has no fields. */
  readonly sent: Fields;
  /** Whether the form was refused because its link has changed. */
  readonly hasChanged: boolean;
  /** The decision taken a moment ago, which the page says once. */
  readonly notice: RelatedEntry | undefined;
}

/** An entry of the operator's journal with the entries that it refers to. */
export interface RelatedEntry extends DecisionEntry {
  /** The decision that it undoes. */
  readonly original?: DecisionEntry | undefined;
  readonly undoneBy?: DecisionEntry | undefined;
}

export async function withRelated(
  inspection: Pick<Inspection, "decision">,
  entries: readonly DecisionEntry[],
): Promise<readonly RelatedEntry[]> {
  const find = async (id: number | undefined) =>
    id === undefined
      ? undefined
      : (entries.find(({ entry }) => entry === id) ?? (await inspection.decision(id)));
  return Promise.all(
    entries.map(async (one) => ({
      ...one,
      original: await find(one.undoes),
      undoneBy: await find(one.undone),
    })),
  );
}
