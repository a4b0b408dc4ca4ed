import type { ProblemReason } from "../../src/http/problem-reasons.ts";
import type { Refusal } from "./refusal.ts";

export interface OpenRefusal extends Refusal {
  /** Undefined if none is sent. */
  readonly password: string | undefined;
}

/** The password of the link at /closed. */
export const PASSWORD = "비밀 pass:word";

const refuse = (input: string, password: string | undefined, reason: ProblemReason): OpenRefusal => ({
  input,
  password,
  status: 401,
  mistakes: [{ reason }],
});

/** Visitors to whom a link with a password stays closed. */
export const OPEN_REFUSALS: readonly OpenRefusal[] = [
  refuse("no password", undefined, "password.missing"),
  refuse("an empty password", "", "password.missing"),
  refuse("another password", "another", "password.wrong"),
  refuse("the start of the password", PASSWORD.slice(0, -1), "password.wrong"),
  refuse("a longer password", `${PASSWORD}x`, "password.wrong"),
  refuse("a password of 200 characters", "x".repeat(200), "password.wrong"),
];
