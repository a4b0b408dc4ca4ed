import { createHistogram, type Histogram, SECONDS } from "../lib/histogram.ts";

/** Requests by route, method and class of status. Each of them is one of few, so that no client can add series. */
export interface RequestFigures {
  /** The route is a template of `routes.ts`, such as /{code}+, or "other". */
  observe(route: string, method: string, status: number, startMs: number): void;
  readonly series: ReadonlyMap<string, RequestSeries>;
}

interface RequestSeries {
  readonly route: string;
  readonly method: string;
  /** Such as 2xx. */
  readonly status: string;
  /** Until the answer begins. */
  readonly seconds: Histogram;
}

const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** `startMs` is on the clock of `performance.now`. */
export function createRequestFigures(): RequestFigures {
  const series = new Map<string, RequestSeries>();

  function seriesOf(route: string, asked: string, answered: number): RequestSeries {
    const key = `${route} ${asked} ${Math.floor(answered / 100)}`;
    const known = series.get(key);
    if (known !== undefined) return known;
    const status = `${Math.floor(answered / 100)}xx`;
    const made = { route, method: asked, status, seconds: createHistogram(SECONDS) };
    series.set(key, made);
    return made;
  }

  return {
    series,
    observe(route, method, status, startMs) {
      const { seconds } = seriesOf(route, METHODS.has(method) ? method : "other", status);
      seconds.observe((performance.now() - startMs) / 1000);
    },
  };
}
