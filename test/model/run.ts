/** How the model is run: one way of a command after the other. */
import type { Command, Event, Settings } from "./commands.ts";
import type { State } from "./model.ts";

/** A time in Unix ms, as precisely as the answers so far show it. */
export interface Moment {
  earliest: number;
  latest: number;
}

export const at = (ms: number): Moment => ({ earliest: ms, latest: ms });
export const after = ({ earliest, latest }: Moment, ms: number): Moment => ({
  earliest: earliest + ms,
  latest: latest + ms,
});
export const isMoment = (value: unknown): value is Moment =>
  typeof value === "object" && value !== null && "earliest" in value;

/** An answer as the model says it: times are moments, and the fields that it leaves out may have any value. */
export type Said = { readonly status: number; readonly reason?: string; readonly [name: string]: unknown };
class Refused extends Error {}

/**
 * One way in which a command may go. Where several are right, `either` takes one of them, and the command runs again for each
 * of the others: near a boundary in time, both sides are right.
 */
export class Run {
  readonly state: State;
  readonly others: number[][] = [];
  #refusals: Said[] = [];
  #step = 0;
  constructor(
    before: State,
    readonly command: Command,
    readonly now: Moment,
    readonly path: number[],
  ) {
    // Shared without a deep copy, because values in `seen` and `recent` never change.
    const { seen, recent, ...rest } = before;
    this.state = { ...structuredClone(rest), seen: new Map(seen), recent };
  }
  either<T>(options: readonly T[]): T {
    const step = this.#step++;
    if (step === this.path.length && options.length > 1)
      for (let other = 1; other < options.length; other++) this.others.push([...this.path, other]);
    if (step === this.path.length) this.path.push(0);
    return options[this.path[step] ?? 0] as T;
  }
  /** Something has passed when now >= its moment. */
  passed(moment: Moment | undefined): boolean {
    if (moment === undefined || this.now.latest < moment.earliest) return false;
    return this.now.earliest >= moment.latest || this.either([true, false]);
  }
  /** The hour or day (UTC) in which the command runs, as Unix ms of its start. */
  unit(ms: number): number {
    const [first, last] = [this.now.earliest, this.now.latest].map((now) => now - (now % ms));
    return first === last ? (first ?? 0) : this.either([first ?? 0, last ?? 0]);
  }
  refuseIf(isRefused: boolean, status: number, reason?: string): void {
    if (isRefused) this.#refusals.push({ status, ...(reason !== undefined && { reason }) });
  }
  /** Goes on unless the command is refused. If several reasons apply, the answer may give any of them. Nothing has changed. */
  orRefuse(): void {
    if (this.#refusals.length > 0) throw new Refused();
  }
  attempt(step: () => Said): Said {
    const outer = this.#refusals;
    this.#refusals = [];
    try {
      return step();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return this.either(this.#refusals);
    } finally {
      this.#refusals = outer;
    }
  }
  emit(type: string, subject: string, more: Partial<Event> = {}): void {
    if (this.state.settings.events) this.state.events.push({ type, subject, ...more });
  }
}

export const START = (settings: Settings): State => ({
  settings,
  operators: settings.operators,
  creators: settings.creators,
  links: new Map(),
  lives: 0,
  reused: new Set(),
  hosts: new Map(),
  cases: new Map(),
  reporters: new Set(),
  decisions: [],
  journal: [],
  keyed: new Map(),
  events: [],
  visits: new Map(),
  imported: new Map(),
  forms: new Map(),
  makers: new Map(),
  offered: new Map(),
  seen: new Map(),
  recent: [],
});
