import { type PostgresServer, urlOf } from "../../support/postgres.ts";
import { type Proxy, startProxy } from "../../support/proxy.ts";
import { type PostgresCluster, startCluster } from "./cluster.ts";

/** Returns numbers from 0 to below 1, the same ones for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The network between one instance and all servers. */
interface Network extends AsyncDisposable {
  readonly url: string;
  reset(): void;
  silence(): void;
  delay(ms: number): void;
  setUp(isUp: boolean): void;
}

async function startNetwork(cluster: PostgresCluster, name: string): Promise<Network> {
  await cluster.url(name);
  const proxies: Proxy[] = [];
  for (const { port } of cluster.servers) proxies.push(await startProxy(port));
  const each = (what: (proxy: Proxy, nth: number) => void) => proxies.forEach(what);
  return {
    url: urlOf(
      proxies.map(({ port }) => port),
      name,
    ),
    reset: () => each((proxy) => proxy.reset()),
    silence: () => each((proxy) => proxy.silence()),
    delay: (ms) => each((proxy) => proxy.delay(ms)),
    setUp(isUp) {
      each((proxy, nth) => proxy.lead(isUp ? cluster.servers[nth]?.port : undefined));
      if (!isUp) each((proxy) => proxy.reset());
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(proxies.map((proxy) => proxy[Symbol.asyncDispose]()));
    },
  };
}

/** While its network fails, or there is no primary, an instance can't read changes. */
interface Deafness {
  /** Undefined: all of them. */
  readonly who: number | undefined;
  readonly fromMs: number;
  untilMs: number;
}

/** Afterwards it must know them within this time. */
const CATCH_UP_MS = 1000;

/** Interval of the timer that detects whether this process gets CPU time, and its tolerance. */
const PULSE_MS = 50;
const LATE_MS = 100;

/** Statements time out after a second, which detects a silent connection. */
const DETECTED_MS = 1000;
/** A cluster manager keeps an old primary away for longer: by then, instances have noticed the new one. */
const FENCED_MS = 1500;

/**
 * A cluster, a network for each of some instances, and random faults of them, one after the other. Each failover removes a
 * server permanently, so it needs one standby per failover, and two more.
 */
export async function startChaos(instances: number, standbyCount: number, random: () => number) {
  const cluster = await startCluster(standbyCount);
  const networks: Network[] = [];
  for (let nth = 0; nth < instances; nth++) networks.push(await startNetwork(cluster, "chaos"));
  /** The first one is the primary. */
  let servers = [...cluster.servers];
  const deaf: Deafness[] = [];
  /** The faults, with their times. */
  const events: { readonly atMs: number; readonly what: string }[] = [];
  let later: Promise<unknown> = Promise.resolve();

  const primaryServer = () => servers[0] as PostgresServer;
  const record = (what: string) => void events.push({ atMs: performance.now(), what });
  const pause = (fromMs: number, toMs: number) => Bun.sleep(fromMs + random() * (toMs - fromMs));

  async function promote(): Promise<void> {
    const candidates = servers.slice(1);
    const promoted = await cluster.promote(candidates);
    servers = [promoted, ...candidates.filter((candidate) => candidate !== promoted)];
    record(`promoted ${promoted.port}`);
  }

  async function thawLater(old: PostgresServer): Promise<void> {
    await pause(FENCED_MS, 2 * FENCED_MS);
    record(`thaw ${old.port}`);
    old.thaw();
  }

  /** During `fault`, an instance can't read changes; undefined means all of them. */
  async function during(what: string, who: number | undefined, fault: () => unknown, moreMs = 0) {
    const deafness = { who, fromMs: performance.now(), untilMs: Number.POSITIVE_INFINITY };
    deaf.push(deafness);
    record(who === undefined ? what : `${what} of instance ${who}`);
    await fault();
    deafness.untilMs = performance.now() + moreMs;
    record("over");
  }

  // While this process gets no time, as on a busy machine, none of its instances reads changes.
  let pulseMs = performance.now();
  const pulse = setInterval(() => {
    const [fromMs, untilMs] = [pulseMs, performance.now()];
    pulseMs = untilMs;
    if (untilMs - fromMs < PULSE_MS + LATE_MS) return;
    record(`nothing ran for ${Math.round(untilMs - fromMs)} ms`);
    deaf.push({ who: undefined, fromMs, untilMs });
  }, PULSE_MS);

  function onNetwork(what: string, fault: (network: Network) => unknown, moreMs?: number) {
    return () => {
      const who = Math.floor(random() * instances);
      return during(what, who, () => fault(networks[who] as Network), moreMs);
    };
  }

  const onPrimary = (what: string, fault: (primary: PostgresServer) => unknown) => () =>
    during(`${what} ${primaryServer().port}`, undefined, () => fault(primaryServer()));

  const failovers = [
    onPrimary("kill", async (primary) => {
      await primary.kill();
      await pause(100, 1000);
      await promote();
    }),
    onPrimary("freeze permanently", async (primary) => {
      primary.freeze();
      await pause(100, 1500);
      await promote();
      later = Promise.all([later, thawLater(primary)]);
    }),
  ];
  const others = [
    onPrimary("freeze", async (primary) => {
      primary.freeze();
      await pause(100, 1800);
      primary.thaw();
    }),
    onPrimary("restart", (primary) => primary.restart()),
    async function freezeStandbys() {
      const standbys = servers.slice(1);
      record("freeze the standbys");
      for (const standby of standbys) standby.freeze();
      await pause(100, 1800);
      for (const standby of standbys) standby.thaw();
      record("over");
    },
    onNetwork("resets", async (network) => {
      for (let nth = 0; nth < 10; nth++) {
        network.reset();
        await pause(20, 100);
      }
    }),
    onNetwork("silence", (network) => network.silence(), DETECTED_MS),
    onNetwork("loss", async (network) => {
      network.setUp(false);
      await pause(100, 1500);
      network.setUp(true);
    }),
    onNetwork("slowness", async (network) => {
      network.delay(100);
      await pause(500, 1500);
      network.delay(0);
    }),
  ];

  return {
    urls: networks.map(({ url }) => url),
    events,
    /** The time from which an instance may lack changes at `atMs`. Faults in quick succession count as one. */
    heardUntilMs(instance: number, atMs: number): number {
      let heardMs = atMs;
      for (const { who, fromMs, untilMs } of deaf.toReversed())
        if ((who === undefined || who === instance) && heardMs <= untilMs + CATCH_UP_MS)
          heardMs = Math.min(heardMs, fromMs);
      return heardMs;
    },
    /** Causes faults until `untilMs`. */
    async trouble(untilMs: number): Promise<void> {
      while (performance.now() < untilMs) {
        // Only in these pauses must all instances know all changes.
        await (random() < 0.3 ? pause(2000, 3000) : pause(100, 800));
        const faults = servers.length > 2 && random() < 0.3 ? failovers : others;
        await faults[Math.floor(random() * faults.length)]?.();
      }
      await later;
    },
    async [Symbol.asyncDispose]() {
      clearInterval(pulse);
      await Promise.all(networks.map((network) => network[Symbol.asyncDispose]()));
      await cluster[Symbol.asyncDispose]();
    },
  };
}
