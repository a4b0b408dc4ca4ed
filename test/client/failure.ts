import { CurtError } from "../../client/client.ts";

/** The value that a call rejects with. */
export async function thrownBy(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => {
      throw new Error("the call did not fail");
    },
    (thrown: unknown) => thrown,
  );
}

/** The error of the client that a call rejects with. */
export async function failureOf(call: Promise<unknown>): Promise<CurtError> {
  const thrown = await thrownBy(call);
  if (!(thrown instanceof CurtError)) throw new Error("no CurtError", { cause: thrown });
  return thrown;
}
