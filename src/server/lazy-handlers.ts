import type { Handler } from "../http/call.ts";

/** How long after the start handlers are loaded, at the latest: before an update replaces the files of this version. */
const LOAD_AFTER_MS = 1000;

/** Gives a handler by its name. */
export type LazyHandlers<T> = (name: keyof T) => Handler;

/**
 * Loads handlers after the start or with their first request, because loading schemas takes longer than the rest of a start and
 * redirects do without. If it fails, the next request tries again.
 */
export function createLazyHandlers<T extends Readonly<Record<keyof T, Handler>>>(
  load: () => Promise<T>,
): LazyHandlers<T> {
  let handlers: T | undefined;

  async function loadOnce(): Promise<T> {
    const loaded = await load();
    return (handlers ??= loaded);
  }
  setTimeout(() => void loadOnce().catch(() => {}), LOAD_AFTER_MS).unref();

  return (name) => async (call) => {
    if (handlers !== undefined) return handlers[name](call);
    // The address is lost if the client hangs up while the handlers load.
    call.client();
    return (await loadOnce())[name](call);
  };
}
