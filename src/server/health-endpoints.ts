import type { Call } from "../http/call.ts";
import { problemJson } from "../http/problems.ts";
import { json } from "../http/responses.ts";
import type { Links } from "../links/links.ts";
import type { OpenRecorder } from "../visits/visits.ts";

/** A reserved code, so it never exists. Looking it up shows that the store answers. */
const PROBE = "readyz";

export function createHealth(links: Links, recorder: Pick<OpenRecorder, "figures">) {
  let isStopping = false;
  return {
    /** The process responds. The store doesn't matter, because a restart wouldn't repair it. */
    live: (call: Call) => json(call, 200, { status: "success", message: "live" }, "en"),
    /** This process can look up links, and isn't about to stop. */
    async ready(call: Call): Promise<Response> {
      if (isStopping) return problemJson(call, { kind: "unavailable" });
      await links.find(PROBE);
      // A restart would not help, and visitors are still redirected.
      const message = recorder.figures().isCounting ? "ready" : "ready, but visits are not counted";
      return json(call, 200, { status: "success", message }, "en");
    },
    /** Makes `ready` fail from now on. */
    stopping() {
      isStopping = true;
    },
  };
}

export type Health = ReturnType<typeof createHealth>;
