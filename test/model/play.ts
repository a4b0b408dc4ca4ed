// `npm run model` plays new sequences in all worlds. Exit code: 0 if the model explained everything, 1 if it didn't, 2 if the
// player couldn't play.
import { parseArgs } from "node:util";

import type { Finding } from "./player.ts";
import type { WorldOptions } from "./world.ts";

export const WORLDS = {
  "in-process": {
    engine: "sqlite",
    processes: 1,
    kind: "in-process",
    codeCase: "ignore",
    editors: "everybody",
  },
  public: { engine: "sqlite", processes: 1, kind: "in-process", codeCase: "match" },
  sqlite: { engine: "sqlite", processes: 1, kind: "program", codeCase: "match", editors: "maker" },
  processes: { engine: "sqlite", processes: 2, kind: "program", codeCase: "ignore", editors: "everybody" },
  postgres: { engine: "postgres", processes: 1, kind: "program", codeCase: "ignore" },
  "postgres-processes": {
    engine: "postgres",
    processes: 2,
    kind: "program",
    codeCase: "match",
    editors: "everybody",
  },
} as const satisfies Readonly<Record<string, WorldOptions>>;

const HELP = `npm run model -- [--minutes N] [--world NAME]… [--seed N] [--sequences N] [--program CHECKOUT]

Worlds: ${Object.keys(WORLDS).join(", ")}. Default: one minute, all worlds, new seeds.`;
/** A world starts again after this time, so that all have their turn. */
const TURN_MS = 120_000;

class BadInput extends Error {}

export interface Plan {
  readonly worlds: readonly (keyof typeof WORLDS)[];
  readonly endMs: number;
  readonly seed: number;
  /** Of each world; undefined: until `endMs`. */
  readonly sequences?: number | undefined;
}

function readPlan(args: string[]): Plan {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args,
    options: {
      minutes: text,
      world: { ...text, multiple: true },
      seed: text,
      sequences: text,
      program: text,
    },
  });
  const number = (name: string, value: string) => {
    if (!/^\d{1,9}(?:\.\d+)?$/.test(value)) throw new BadInput(`--${name} takes a number, not ${value}`);
    return Number(value);
  };
  const { world: worlds = Object.keys(WORLDS), program } = values;
  const unknown = worlds.find((name) => !Object.hasOwn(WORLDS, name));
  if (unknown !== undefined) throw new BadInput(`there is no world ${unknown}`);
  if (program !== undefined) process.env["CHECKOUT"] = program;
  return {
    worlds: worlds as Plan["worlds"],
    endMs: performance.now() + number("minutes", values.minutes ?? "1") * 60_000,
    seed: number("seed", values.seed ?? String(Date.now() % 1_000_000_000)),
    sequences: values.sequences === undefined ? undefined : number("sequences", values.sequences),
  };
}

/** Plays seeds in turn, each difference once. Returns how many differences there were. */
export async function playPlan(plan: Plan, print: (text: string) => void): Promise<number> {
  const { sequences = Number.POSITIVE_INFINITY } = plan;
  // Not before the checkout is known.
  const { openWorld } = await import("./world.ts");
  const { playSeed, report, TooManyStates } = await import("./player.ts");
  const found = new Map<string, Finding | undefined>();
  let { seed } = plan;
  do {
    for (const name of plan.worlds) {
      const turnMs =
        plan.sequences === undefined ? Math.min(plan.endMs, performance.now() + TURN_MS) : plan.endMs;
      await using world = await openWorld(WORLDS[name]);
      const startMs = performance.now();
      let [commands, played, unclear] = [0, 0, 0];
      while (played < sequences && performance.now() < turnMs) {
        try {
          const { sent, finding } = await playSeed(world, seed, found);
          commands += sent;
          if (finding !== undefined) print(`${name}: ${report(finding, seed)}\n`);
        } catch (error) {
          if (!(error instanceof TooManyStates))
            throw new Error(`the player failed at seed ${seed} in ${name}`, { cause: error });
          unclear++;
        }
        played++;
        for (const line of world.crashed.splice(0)) {
          print(`${name}: the service failed at seed ${seed}: ${line}`);
          found.set(line, undefined);
        }
        seed++;
      }
      const perSecond = Math.round((commands / (performance.now() - startMs)) * 1000);
      print(
        `${name}: ${played} sequences, ${commands} commands, ${perSecond} a second; ${unclear} had too many states`,
      );
    }
  } while (performance.now() < plan.endMs && plan.sequences === undefined);
  return found.size;
}

if (import.meta.main) {
  try {
    const differences = await playPlan(readPlan(process.argv.slice(2)), (text) => console.log(text));
    console.log(differences === 0 ? "no difference" : `${differences} differences`);
    process.exit(differences === 0 ? 0 : 1);
  } catch (error) {
    const isBad =
      error instanceof BadInput || (error as { code?: string }).code?.startsWith("ERR_PARSE_ARGS") === true;
    console.error(isBad ? `${(error as Error).message}\n\n${HELP}` : error);
    process.exit(2);
  }
}
