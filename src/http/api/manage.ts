import type { TokenCheck } from "../../guard/token.ts";
import type { MessageKey } from "../../language/messages.ts";
import type { Clock } from "../../links/clock.ts";
import type { Link } from "../../links/link.ts";
import type { FoundLink, Links } from "../../links/links.ts";
import type { EditRequest } from "../../links/manage.ts";
import { isProblem } from "../../links/problem.ts";
import type { Secret } from "../../links/secret.ts";
import type { Visits } from "../../visits/visits.ts";
import { bearerToken } from "../bearer.ts";
import type { Call } from "../call.ts";
import { CREATES, type Limiter } from "../limits.ts";
import { type HttpProblem, LINK_FIELDS, problemJson } from "../problems.ts";
import type { View } from "../views/view.ts";
import type { Views } from "../views/views.ts";
import { success } from "./envelope.ts";
import { managedLinkData } from "./link-data.ts";

export interface ManageOptions {
  readonly links: Pick<Links, "find" | "edit" | "withdraw">;
  readonly secret: Secret;
  readonly limiter: Pick<Limiter, "limit" | "unknown">;
  readonly visits: Pick<Visits, "sums">;
  readonly views: Pick<Views, "ask">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly createToken: string | null;
  readonly mayCreate: TokenCheck;
}

/** The link that a keyed call is about, for the thread that makes views. */
export interface Managed {
  readonly createdMs: number;
}

const VARY = { Vary: "Accept-Language, Authorization" };

/** What needs the manage key of a link, or shows more to whoever has it. */
export function createManage(options: ManageOptions) {
  const { links, secret, limiter, visits, views, clock, createToken, mayCreate } = options;

  /** Returns the link if the key is its own. Wrong keys count like unknown codes, so that nobody can try many. */
  async function unlock(call: Call, key: string): Promise<FoundLink | HttpProblem> {
    // The address is lost if the client hangs up while the store is asked.
    call.client();
    const link = await links.find(call.code, "maker");
    if (isProblem(link) || secret.isManageKey(key, link)) return link;
    return (await limiter.unknown(call)) ?? { kind: "key.wrong" };
  }

  async function tell(call: Call, message: MessageKey, link: Link): Promise<Response> {
    const { visits: counted } = await visits.sums(link);
    const data = managedLinkData(link, call.domain, secret, { nowMs: clock.nowMs(), visits: counted });
    return success(call, 200, message, data, VARY);
  }

  function withKey(act: (call: Call, link: FoundLink) => Promise<Response>) {
    return async (call: Call): Promise<Response> => {
      const key = bearerToken(call.headers);
      if (key === "") return problemJson(call, { kind: "key.missing" });
      const link = await unlock(call, key);
      return isProblem(link) ? problemJson(call, link) : act(call, link);
    };
  }

  async function edit(call: Call, link: FoundLink, request: EditRequest): Promise<Response> {
    const edited = await links.edit(link, request);
    if (isProblem(edited)) return problemJson(call, edited, {}, LINK_FIELDS);
    return tell(call, "link.changed", edited);
  }

  return {
    /** A view of a link, which shows more to whoever has its key. */
    show:
      (view: View) =>
      async (call: Call): Promise<Response> => {
        const key = bearerToken(call.headers);
        // Programs may send the token of the service with everything.
        const isKey = key !== "" && (createToken === null || !mayCreate(key));
        if (!isKey) return views.ask(view, call);
        const link = await unlock(call, key);
        if (isProblem(link)) return problemJson(call, link);
        const managed: Managed = { createdMs: link.createdMs };
        return views.ask(view, call, JSON.stringify(managed));
      },

    change: withKey(async (call, link) => {
      const { readChange } = await import("./change.ts");
      const request = await readChange(call.request);
      if (isProblem(request)) return problemJson(call, request, {}, LINK_FIELDS);
      // A new target could be a new link as well.
      const isLimited = request.originalUrl !== undefined && request.originalUrl !== link.originalUrl;
      const apply = () => edit(call, link, request);
      return isLimited ? limiter.limit(CREATES, apply)(call) : apply();
    }),

    withdraw: withKey(async (call, link) => {
      const ended = await links.withdraw(link);
      return isProblem(ended) ? problemJson(call, ended) : tell(call, "link.ended", ended);
    }),
  };
}
