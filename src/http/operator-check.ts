import type { AdminToken } from "../moderation/access-tokens.ts";
import { clientNetwork } from "../moderation/client-address.ts";
import type { RateLimits } from "../moderation/rate-limits.ts";
import { bearerToken } from "./bearer-token.ts";
import type { Call } from "./call.ts";
import type { HttpProblem } from "./problems.ts";

/** Asks a call for the operator's token. */
export interface OperatorCheck {
  /** Undefined if the call shows the token. */
  refusalOf(call: Call): HttpProblem | undefined;
  /** Counts a wrong token against its client, and says what the client is told. */
  onWrong(call: Call): HttpProblem;
}

export function createOperatorCheck(token: AdminToken, { wrongToken }: RateLimits): OperatorCheck {
  function onWrong(call: Call): HttpProblem {
    const seconds = wrongToken?.take(clientNetwork(call.client().address)) ?? 0;
    return seconds === 0 ? { kind: "operator.wrong" } : { kind: "limited", limit: "token", seconds };
  }
  return {
    refusalOf(call) {
      const given = bearerToken(call.headers);
      if (given === "") return { kind: "operator.missing" };
      // A right token opens, whatever was tried before: wrong ones keep nobody out.
      return token.isRight(given) ? undefined : onWrong(call);
    },
    onWrong,
  };
}
