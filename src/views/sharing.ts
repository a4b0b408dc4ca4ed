import type { Memory } from "../links/change-feed.ts";
import type { MonotonicClock } from "../links/clock.ts";
import { type Code, lookUpCode } from "../links/code.ts";
import type { RenderedView } from "./task.ts";

/** How long equal requests share one view. Then the thread checks whether it is still current. */
const SHARED_MS = 1000;
const MAX_SHARED = 100;

/** Tests lower it to see changes immediately. */
export interface SharingLimits {
  readonly sharedMs?: number;
}

/** Requests with one key are equal, but for the tag that the caller knows. */
interface Sharing {
  readonly key: string;
  /** As spelled in the path. */
  readonly code: string;
  /** The tag that the caller knows, or "". */
  readonly knownTag: string;
}

/** Renders a view unless it has the tag. Undefined if the queue has no place for it. */
type Rendering = (knownTag: string) => Promise<RenderedView> | undefined;

/** Views that equal requests share. After a change of a link, it shares no view that was rendered before. */
export interface SharedViews extends Memory<Code> {
  /**
   * Returns a view that was rendered for an equal request, or renders it. Only rendering takes a place in the queue. Without
   * one, every shared view stays, so refused requests don't evict the views of others.
   */
  find(sharing: Sharing, render: Rendering): Promise<RenderedView | undefined>;
}

interface SharedView {
  readonly code: string;
  readonly rendering: Promise<RenderedView>;
  untilMs: number;
  /** The rendered view. It can be sent again while the thread confirms its tag. */
  view?: RenderedView;
}

/** Lets equal requests share views, so that the thread doesn't render the same for each reader. */
export function createSharedViews(
  clock: MonotonicClock,
  { sharedMs = SHARED_MS }: SharingLimits = {},
): SharedViews {
  const shared = new Map<string, SharedView>();

  function keep(key: string, code: string, rendering: Promise<RenderedView>): Promise<RenderedView> {
    const entry: SharedView = { code, rendering, untilMs: Number.POSITIVE_INFINITY };
    shared.delete(key);
    shared.set(key, entry);
    void settle(key, entry);
    const [oldest] = shared.keys();
    if (shared.size > MAX_SHARED && oldest !== undefined) shared.delete(oldest);
    return rendering;
  }

  /** Problems are not shared: a link that did not exist a moment ago may exist now. */
  async function settle(key: string, entry: SharedView): Promise<void> {
    const view = await entry.rendering.catch(() => undefined);
    if (!isSuccess(view)) {
      if (shared.get(key) === entry) shared.delete(key);
      return;
    }
    entry.untilMs = clock.monotonicMs() + sharedMs;
    if (view.status === 200) entry.view = view;
  }

  return {
    async find({ key: forAll, code, knownTag }, render) {
      const before = shared.get(forAll)?.view;
      // The caller's tag is compared with a cached view here, otherwise by the thread, whose 304 is only for callers with this tag.
      const key = before === undefined ? forAll + knownTag : forAll;
      for (const one of new Set([forAll, key])) {
        const entry = shared.get(one);
        if (entry === undefined || clock.monotonicMs() >= entry.untilMs) continue;
        const current = await entry.rendering.catch(() => undefined);
        if (isSuccess(current)) return current;
      }
      const rendering = render(before === undefined ? knownTag : tagOf(before));
      if (rendering === undefined) return undefined;
      return keep(key, code, before === undefined ? rendering : unlessCurrent(before, rendering));
    },
    forget(code) {
      // Forgetting a link in other capitals as well does no harm.
      for (const [key, { code: spelling }] of shared)
        if (lookUpCode(spelling, "match") === code || lookUpCode(spelling, "ignore") === code)
          shared.delete(key);
    },
    forgetAll: () => shared.clear(),
  };
}

async function unlessCurrent(before: RenderedView, rendering: Promise<RenderedView>): Promise<RenderedView> {
  const view = await rendering;
  return view.status === 304 ? before : view;
}

function isSuccess(view: RenderedView | undefined): view is RenderedView {
  return view !== undefined && view.status < 400;
}

function tagOf({ headers }: RenderedView): string {
  return (JSON.parse(headers) as Record<string, string>)["etag"] ?? "";
}
