import { StoreUnavailable } from "../../links/link-store.ts";

/** Another process has the lock. Nothing was done. */
export class StoreBusy extends StoreUnavailable {
  override readonly name = "StoreBusy";
}
