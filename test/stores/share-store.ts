import { afterAll, beforeAll } from "bun:test";

/** One handle on a store for the tests of a `describe`. It is open from their first `beforeAll` on. */
export function shareStore<Store extends { close(): Promise<void> }>(open: () => Promise<Store>): Store {
  const shared = {} as Store;
  beforeAll(async () => void Object.assign(shared, await open()));
  afterAll(() => shared.close());
  return shared;
}
