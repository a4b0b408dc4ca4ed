import { clientNetwork } from "../../moderation/client-address.ts";
import type { Call } from "../call.ts";

/** Requests for many links that are read and answered at the same time. Each holds some megabytes at worst. */
const MAX_PLACES = 64;
/** How long nothing may arrive or be read on their connections. Making links is in it: 500 passwords take ten seconds or more. */
export const MANY_SECONDS = 120;

/** Gives a place to a request, and returns what leaves it again. Undefined if the client has to come later. */
export type Enter = (call: Call) => (() => void) | undefined;

/**
 * A client gets no more places than it leaves free, so that one that sends or reads slowly takes half of them and not all.
 * Call this before you await anything, see {@link Call.client}.
 */
export function createPlaces(): Enter {
  const taken = new Map<string, number>();
  let free = MAX_PLACES;

  return (call) => {
    const client = clientNetwork(call.client().address);
    const before = taken.get(client) ?? 0;
    if (before >= free) return undefined;
    taken.set(client, before + 1);
    free--;
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      free++;
      const left = (taken.get(client) ?? 0) - 1;
      if (left > 0) taken.set(client, left);
      else taken.delete(client);
    };
  };
}

/** Waits until redirects and other requests had their turn, and so did all that asked before. */
export type Turn = () => Promise<unknown>;

/**
 * One of many links takes as long as a few redirects, and hundreds of them arrive together. Where none of them waits for the
 * store, redirects would wait until all of them are done.
 */
export function createTurn(): Turn {
  let last: Promise<unknown> = Promise.resolve();
  return () => {
    last = last.then(() => new Promise(setImmediate));
    return last;
  };
}
