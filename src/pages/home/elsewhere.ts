// For domains whose home is a site of the operator: / redirects there, and the form moves.
import type { Call } from "../../http/call.ts";
import { endpoint, viewEndpoint } from "../../http/endpoint.ts";
import { answer } from "../../http/responses.ts";
import { sendHomeForm, showHome } from "./handler.ts";

/** Not cached, so that removing HOME_URL takes effect. */
export const goHome = endpoint({
  at: "GET /",
  cost: "little",
  serve: () => (call: Call) =>
    answer({ status: 302, headers: { Location: call.domain.homeUrl ?? "/", "Cache-Control": "no-store" } }),
});

export const showNew = viewEndpoint({ ...showHome, at: "GET /+new" });
export const sendNewForm = viewEndpoint({ ...sendHomeForm, at: "POST /+new" });
