import { StoreUnavailable } from "../../links/store.ts";
import type { AgeBounds } from "../../visits/days/store.ts";
import type { Slice } from "../../visits/days/visit-rows.ts";
import type { createGuard } from "../shared/guard.ts";
import type { Identity } from "./file/file-identity.ts";
import type { UpdateTask } from "./links.ts";

/**
 * A task of the store. Results come back in order. Links to insert, and which were inserted, cross as JSON: Bun passes a
 * long string much faster than an array of objects.
 */
export type Task =
  | { type: "open"; path: string; openElsewhere: Identity | undefined; busyWaitMs: number | undefined }
  | { type: "insert"; links: string }
  | { type: "insertOnce"; requests: string }
  | { type: "forgetRequests"; sentBeforeMs: number; limit: number }
  | { type: "update"; updates: readonly UpdateTask[] }
  | { type: "purge"; endedByMs: number; limit: number }
  | ({ type: "add" } & Slice)
  | { type: "age"; bounds: AgeBounds; limit: number }
  | { type: "salt"; day: number; oldest: number }
  | { [Name in keyof Guard]: { type: Name; args: Parameters<Guard[Name]> } }[keyof Guard]
  | { type: "rest" }
  | { type: "close" };

/** The methods that are written once for both engines. */
export type Guard = ReturnType<typeof createGuard>;

/** A task for the thread, and how long it waits for other processes' locks. */
export type TimedTask = Task & { readonly waitMs: number };

/** Another process has the lock. Nothing was done. */
export class StoreBusy extends StoreUnavailable {
  override readonly name = "StoreBusy";
}
