import type { Call } from "../http/call.ts";
import { problemJson } from "../http/problems.ts";
import { json } from "../http/responses.ts";
import type { Links } from "../links/links.ts";
import type { OpenRecorder } from "../visits/visits.ts";

export interface Health {
  /** The process answers. It does not ask the store: a restart would not mend that. */
  live(call: Call): Response;
  /** Links can be looked up here, and this process is not about to stop. */
  ready(call: Call): Promise<Response>;
  /** From now on not ready. */
  stopping(): void;
}

/** Reserved, so it is never there; looking it up shows that the store answers. */
const PROBE = "readyz";

export function createHealth(links: Links, recorder: Pick<OpenRecorder, "figures">): Health {
  let isStopping = false;
  return {
    live: (call) => json(call, 200, { status: "success", message: "live" }, "en"),
    async ready(call) {
      if (isStopping) return problemJson(call, { kind: "unavailable" });
      await links.find(PROBE);
      // A restart would not help, and visitors are still redirected.
      const message = recorder.figures().isCounting ? "ready" : "ready, but visits are not counted";
      return json(call, 200, { status: "success", message }, "en");
    },
    stopping() {
      isStopping = true;
    },
  };
}
