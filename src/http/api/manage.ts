import type { Clock } from "../../links/clock.ts";
import type { FoundLink, Link } from "../../links/link.ts";
import type { Links } from "../../links/links.ts";
import { isProblem } from "../../links/problem.ts";
import type { Secret } from "../../links/secret.ts";
import type { MessageKey } from "../../locales/messages.ts";
import type { TokenCheck } from "../../moderation/access-tokens.ts";
import type { Visits } from "../../visits/visits.ts";
import { bearerToken } from "../bearer-token.ts";
import type { Call } from "../call.ts";
import { LINK_FIELDS } from "../field-names.ts";
import { createManaging, type ManagingOptions } from "../link-manager.ts";
import { problemJson } from "../problems.ts";
import type { View } from "../views/view.ts";
import type { Views } from "../views/views.ts";
import { success } from "./envelope.ts";
import { managedLinkData } from "./link-data.ts";

export interface ManageOptions extends ManagingOptions {
  readonly links: ManagingOptions["links"] & Pick<Links, "withdraw">;
  readonly secret: Secret;
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
  const { links, secret, visits, views, clock, createToken, mayCreate } = options;
  const { unlock, edit } = createManaging(options);

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
      const edited = await edit(call, link, request);
      return isProblem(edited)
        ? problemJson(call, edited, {}, LINK_FIELDS)
        : tell(call, "link.changed", edited);
    }),

    withdraw: withKey(async (call, link) => {
      const ended = await links.withdraw(link);
      return isProblem(ended) ? problemJson(call, ended) : tell(call, "link.ended", ended);
    }),
  };
}
