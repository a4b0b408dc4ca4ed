import type { Latency } from "./percentiles.ts";

interface Load {
  readonly port: number;
  readonly connections: number;
  readonly durationMs: number;
}

export interface Visits extends Load {
  readonly kind: "visits";
  readonly linksFile: string;
  /** The only status that counts. */
  readonly status: number;
  /** Each link once, with a look at where it leads; otherwise round and round until the time is over. */
  readonly once: boolean;
  /** For a long file: how many of its links are left out at first. */
  readonly from?: number;
}

/** Visits of codes that do not exist, each another one. */
export interface Misses extends Load {
  readonly kind: "misses";
  readonly count: number;
}

export interface Creates extends Load {
  readonly kind: "creates";
  /** Tells the addresses of one load from those of another. */
  readonly run: string;
  /** Stops after this many, if the time is not over before. */
  readonly count?: number;
  /** Where the links made are written. */
  readonly linksFile?: string;
}

/** Visits at a fixed rate, and creates at another one beside them. */
export interface Paced {
  readonly kind: "paced";
  readonly port: number;
  readonly durationMs: number;
  readonly linksFile: string;
  readonly visitsPerSecond: number;
  /** 0 for none. */
  readonly createsPerSecond: number;
  readonly run: string;
}

/** A bit of everything that people and programs send. */
export interface Mixed extends Load {
  readonly kind: "mixed";
  /** Links that exist; visits go to all of them, most to the first ones. */
  readonly linksFile: string;
  readonly run: string;
}

export type Task = Visits | Misses | Creates | Paced | Mixed;

export interface Done {
  readonly requests: number;
  readonly durationMs: number;
}

export interface PacedDone extends Done {
  readonly visits: Latency;
  readonly creates?: Latency;
}
