/** A port of the loopback interface that nobody listens on right now. */
export function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}

/** Between two attempts; it bounds how exactly a start is timed. */
const RETRY_MS = 2;

/** Resolves once `path` on this port answers 200 or redirects; throws after `limitMs`. */
export async function untilAnswering(port: number, path: string, limitMs: number): Promise<void> {
  const deadlineMs = performance.now() + limitMs;
  while (performance.now() < deadlineMs) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { redirect: "manual" }).catch(
      () => undefined,
    );
    if (answer !== undefined && answer.status < 400) return;
    await Bun.sleep(RETRY_MS);
  }
  throw new Error(`nothing answers http://127.0.0.1:${port}${path} after ${limitMs} ms`);
}
