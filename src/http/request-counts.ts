import { createHistogram, type Histogram, SECONDS } from "../lib/histogram.ts";

/** Requests by route, method and class of status. No client can add series, because each label has few values. */
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
  /** Until the response starts. */
  readonly seconds: Histogram;
}

const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** `startMs` is on the clock of `performance.now`. */
export function createRequestFigures(): RequestFigures {
  const series = new Map<string, RequestSeries>();

  function seriesOf(route: string, requestMethod: string, code: number): RequestSeries {
    const key = `${route} ${requestMethod} ${Math.floor(code / 100)}`;
    const known = series.get(key);
    if (known !== undefined) return known;
    const status = `${Math.floor(code / 100)}xx`;
    const created = { route, method: requestMethod, status, seconds: createHistogram(SECONDS) };
    series.set(key, created);
    return created;
  }

  return {
    series,
    observe(route, method, status, startMs) {
      const { seconds } = seriesOf(route, METHODS.has(method) ? method : "other", status);
      seconds.observe((performance.now() - startMs) / 1000);
    },
  };
}
