const MAX_TRIES = 1000;
const PAUSE_MS = 100;

/** Repeats a request until its response isn't 503, because a busy machine may refuse some of many requests. */
export async function sendUntilTaken<T extends { readonly status: number }>(
  send: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    const response = await send();
    if (response.status !== 503 || tries === MAX_TRIES) return response;
    if (response instanceof Response) await response.bytes();
    await Bun.sleep(PAUSE_MS);
  }
}
