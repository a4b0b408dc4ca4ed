// Creates links with a real service, kills it in the middle, and counts which confirmed links it still has after a restart.
import { createServer } from "node:net";

const CLIENTS = 8;
/** The service lives this long after its first confirmed link, in the last round for twice as long. */
const LIFE_MS = 250;
const START_MS = 20_000;
/** How long to repeat the request for a link while the service is unavailable. */
const ANSWER_MS = 20_000;
const POLL_MS = 10;
/** Bounds the memory for what to look for. */
const MAX_CONFIRMED = 500_000;
const MAX_SHOWN = 10;

export interface KillRounds {
  /** The command line of a service. */
  readonly program: readonly string[];
  /** Its settings, besides PORT and BASE_URL. */
  readonly settings: Readonly<Record<string, string>>;
  readonly rounds: number;
  /** Ends the rounds early. The service is killed then. */
  readonly signal: AbortSignal;
}

export interface Tally {
  /** Links whose creation was confirmed with 201. */
  readonly confirmed: number;
  /** How many of them redirect to their destination after all restarts. */
  readonly found: number;
  /** The others: address, destination, and what the service answers instead. The first {@link MAX_SHOWN}. */
  readonly lost: readonly string[];
}

/** The service did not start. */
export class NotStarted extends Error {
  override readonly name = "NotStarted";
}

/** Plays all rounds, then looks for every confirmed link. Leaves no process behind. Throws {@link NotStarted}. */
export async function playKillRounds({ program, settings, rounds, signal }: KillRounds): Promise<Tally> {
  /** Destinations by the path of their short address. */
  const confirmed = new Map<string, string>();
  for (let round = 0; round < rounds && !signal.aborted; round++) {
    await using service = await startService(program, settings, signal);
    const life = new AbortController();
    const before = confirmed.size;
    const clients = Array.from({ length: CLIENTS }, async (_, client) => {
      for (let nth = 0; !life.signal.aborted && confirmed.size < MAX_CONFIRMED; nth++) {
        const target = `https://example.com/${round}/${client}/${nth}`;
        const path = await createLink(service.origin, target);
        if (path !== undefined) confirmed.set(path, target);
      }
    });
    while (confirmed.size === before && !signal.aborted) await Bun.sleep(POLL_MS);
    await Bun.sleep(LIFE_MS * (1 + round / rounds));
    // Requests are in flight in all clients.
    await service.kill();
    life.abort();
    await Promise.all(clients);
  }
  await using service = await startService(program, settings, signal);
  return { confirmed: confirmed.size, ...(await findLinks(service.origin, confirmed)) };
}

/** Returns the path of the new short address, or undefined if no response confirmed it. */
async function createLink(origin: string, target: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${origin}/api/v1/shorten`, {
      method: "POST",
      body: JSON.stringify({ original_url: target }),
    });
    const { data } = (await response.json()) as { readonly data?: { readonly short_url: string } };
    return response.status === 201 && data !== undefined ? new URL(data.short_url).pathname : undefined;
  } catch {
    // The kill cut the response off.
    return undefined;
  }
}

async function findLinks(
  origin: string,
  links: ReadonlyMap<string, string>,
): Promise<Pick<Tally, "found" | "lost">> {
  const rest = links.entries();
  const lost: string[] = [];
  let found = 0;
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      // All clients take from one iterator.
      for (const [path, target] of rest) {
        const answer = await visit(origin + path);
        if (answer === target) found++;
        else if (lost.length < MAX_SHOWN) lost.push(`${path} to ${target}: ${answer}`);
      }
    }),
  );
  return { found, lost };
}

/** Returns the address of a redirect, or what happens instead. A service that is unavailable hasn't lost the link yet. */
async function visit(address: string): Promise<string> {
  let answer = "no request";
  for (const deadlineMs = performance.now() + ANSWER_MS; performance.now() < deadlineMs;) {
    try {
      const { status, headers } = await fetch(address, { redirect: "manual" });
      if (status < 500) return headers.get("location") ?? `status ${status}`;
      answer = `status ${status}`;
    } catch (error) {
      answer = String(error);
    }
    await Bun.sleep(POLL_MS);
  }
  return answer;
}

/** Waits until the service is ready. It gets a process group of its own, so that a kill hits all its processes. */
async function startService(
  program: readonly string[],
  settings: Readonly<Record<string, string>>,
  signal: AbortSignal,
) {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const child = Bun.spawn([...program], {
    // With npm_command, the service ends if this process is killed.
    env: { ...settings, PORT: String(port), BASE_URL: origin, npm_command: "exec" },
    stdio: ["ignore", "ignore", "pipe"],
    detached: true,
  });
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  async function kill(): Promise<void> {
    if (!hasEnded()) process.kill(-child.pid, "SIGKILL");
    await child.exited;
  }
  const deadlineMs = performance.now() + START_MS;
  while (!(await isReady(origin))) {
    if (!hasEnded() && !signal.aborted && performance.now() < deadlineMs) {
      await Bun.sleep(POLL_MS);
      continue;
    }
    await kill();
    const reason = (await child.stderr.text()).trim();
    throw new NotStarted(reason === "" ? "it took too long" : reason.replace(/^curt: /, ""));
  }
  return { origin, kill, [Symbol.asyncDispose]: kill };
}

async function isReady(origin: string): Promise<boolean> {
  const response = await fetch(`${origin}/readyz`).catch(() => undefined);
  return response?.status === 200;
}

function freePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const server = createServer()
    .once("error", reject)
    .listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" ? (address?.port ?? 0) : 0));
    });
  return promise;
}
