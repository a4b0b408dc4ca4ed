import type { ProblemReasons } from "./types.ts";

/** Later versions of the service may have others. */
export type FailureReason = ProblemReasons | "network" | "timeout" | "";

export interface Failure {
  /** The HTTP status; 0 if no answer arrived. */
  readonly status: number;
  /**
   * Why, for programs: what `Curt-Reason` says, such as `code.taken`; several are separated by `, `. It is `network` or
   * `timeout` if no answer arrived, and empty if the answer is not Curt's, such as a proxy's.
   */
  readonly reason: FailureReason;
  /** Why, for people. */
  readonly message: string;
  /** How long to wait before the same call could succeed, if the service says so. */
  readonly retryAfterMs?: number | undefined;
}

/** A call that failed, after its retries. */
export class CurtError extends Error implements Failure {
  /** Of the class itself: minified, it would be another one in what Node prints. */
  static override readonly name = "CurtError";
  override readonly name = "CurtError";
  readonly status: number;
  readonly reason: FailureReason;
  readonly retryAfterMs: number | undefined;

  constructor({ status, reason, message, retryAfterMs }: Failure, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}
