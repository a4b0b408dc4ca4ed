import type { AdminToken } from "../guard/admin-token.ts";
import type { Call } from "./call.ts";
import type { HttpProblem } from "./problems.ts";

/** Asks a call for the operator's token. */
export interface OperatorCheck {
  /** Undefined if the call shows the token. */
  refusalOf(call: Call): HttpProblem | undefined;
  /** Counts a wrong token, and says what the caller is told. */
  onWrong(call: Call): HttpProblem;
}

export function createOperatorCheck(token: AdminToken): OperatorCheck {
  const onWrong = (_call: Call): HttpProblem => ({ kind: "operator.wrong" });
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

/** RFC 6750, section 2.1. "" if there is none. */
function bearerToken(headers: Headers): string {
  return /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1] ?? "";
}
