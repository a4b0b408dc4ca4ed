/** Curt's aims in the order of the report. Figures without an aim are for comparison. */
const FIGURES = {
  "hot redirect, any of 100,000 links, × nginx": ["≤", 1.25],
  "hot redirect, by Zipf's law, × nginx": ["≤", 1.35],
  "hot redirect, one link, × nginx": ["≤", 1.25],
  "hot redirect, HOST=0.0.0.0, 200 addresses, 300 browsers, × nginx": ["≤", 1.45],
  "hot redirect with metrics, × without": ["≤", 1.01],
  "unknown codes, × nginx": ["≤", 1.6],
  "p99 at 10,000 redirects/s, × nginx": ["≤", 1.5],
  "p99 of redirects at twice the load, × quiet": ["≤", 5],
  "durable creates/s, 32 connections": ["≥", 25_000],
  "durable creates/s, 1 connection": undefined,
  "durable creates, 1 connection, per disk sync": ["≥", 0.7],
  "durable links/s, in arrays of 500": ["≥", 40_000],
  "start, executable, one link, ms": undefined,
  "start, executable, 1 million links, ms": undefined,
  "own memory after this start, MB": ["≤", 30],
  "bytes per link, 1 million links": undefined,
  "start, executable, 10 million links, ms": ["≤", 60],
  "any of 10 million links, share of the hot rate": ["≥", 0.6],
  "own memory then, at its peak, MB": ["≤", 150],
  "bytes per link, 10 million links": ["≤", 125],
  "bytes per day with one visit of a link": ["≤", 60],
  "preview, fresh link, in hot redirects": ["≤", 15],
  "preview, popular link, in hot redirects": ["≤", 15],
  "statistics of 90 days, in hot redirects": ["≤", 15],
  "creates/s over PostgreSQL, 64 connections, 2 cores": ["≥", 20_000],
  "creates/s over PostgreSQL, 256 connections, 2 cores": ["≥", 20_000],
  "cold redirects/s over PostgreSQL, 2 cores": ["≥", 40_000],
  "hot redirect over PostgreSQL, × SQLite": ["≤", 1.1],
  "soak: rise of own memory, MiB": ["≤", 5],
  "soak: max − min of own memory, MiB": ["≤", 64],
  "rotations: rise of own memory, MiB": ["≤", 5],
  "rotations: rise of the supervisor's own memory, MiB": ["≤", 5],
} as const;

type Aim = readonly ["≤" | "≥", number];
export type Figure = keyof typeof FIGURES;
/** The measured value of each figure by server: Curt, and others if they can do the same. */
export type Figures = Readonly<Partial<Record<Figure, Readonly<Record<string, number>>>>>;

/** Whether Curt reached the aim; undefined if there is no aim or nothing was measured. */
export function isReached(figure: Figure, figures: Figures): boolean | undefined {
  const aim: Aim | undefined = FIGURES[figure];
  const measured = figures[figure]?.["Curt"];
  if (aim === undefined || measured === undefined) return undefined;
  const [direction, bound] = aim;
  return direction === "≤" ? measured <= bound : measured >= bound;
}

/** A row for every figure that has an aim or was measured. */
export function aimRows(figures: Figures): Readonly<Record<string, string | number | undefined>>[] {
  const servers = new Set(Object.values(figures).flatMap(Object.keys));
  const others = [...servers].filter((name) => name !== "Curt").toSorted();
  return (Object.keys(FIGURES) as Figure[]).map((figure) => {
    const measured = figures[figure] ?? {};
    const reached = isReached(figure, figures);
    return {
      figure,
      aim: FIGURES[figure]?.join(" "),
      Curt: measured["Curt"],
      reached: reached === undefined ? undefined : reached ? "yes" : "no",
      ...Object.fromEntries(others.map((name) => [name, measured[name]])),
    };
  });
}
