import { expect } from "bun:test";

import type { Running } from "./service.ts";

/** A create that may be sent again. */
export interface Again {
  readonly path: string;
  readonly body: unknown;
  readonly key: string;
}

const MAX_TRIES = 1000;
const PAUSE_MS = 100;

/** Sends a request again as long as the answer is 503: of many requests at once, a busy machine may refuse some. */
export async function sendUntilTaken(send: () => Promise<Response>): Promise<Response> {
  for (let tries = 1; ; tries++) {
    const response = await send();
    if (response.status !== 503 || tries === MAX_TRIES) return response;
    await response.bytes();
    await Bun.sleep(PAUSE_MS);
  }
}

/** Sends the same request so many times at once, and each again until it is answered. Returns the one answer of all. */
export async function sendUntilAnswered(
  { path, body, key }: Again,
  times: number,
  instanceOf: (nth: number) => Pick<Running, "fetch">,
  onAnswer = () => {},
): Promise<{ readonly answer: Record<string, any>; readonly tries: number }> {
  let tries = 0;

  async function send(nth: number) {
    for (let again = 0; again < MAX_TRIES; again++) {
      tries++;
      const response = await instanceOf(nth)
        .fetch(path, {
          method: "POST",
          headers: { "Content-Type": "application/json", "Idempotency-Key": key },
          body: JSON.stringify(body),
        })
        .catch(() => undefined);
      const text = await response?.text().catch(() => undefined);
      if (response !== undefined && text !== undefined && response.status !== 503) {
        onAnswer();
        const headers = ["location", "link"].map((name) => response.headers.get(name));
        return { status: response.status, headers, text };
      }
      await Bun.sleep(PAUSE_MS);
    }
    throw new Error(`${path} was not answered`);
  }

  const answers = await Promise.all(Array.from({ length: times }, (_, nth) => send(nth)));
  const [first] = answers;
  for (const answer of answers) expect(answer).toEqual(first as never);
  return { answer: { status: first?.status, ...(JSON.parse(first?.text ?? "null") as object) }, tries };
}
