import { host, wholeNumber } from "./formats.ts";
import type { Setting } from "./setting.ts";

/** How the service tells what it does. */
export const METRICS_SETTINGS = {
  metricsPort: {
    name: "METRICS_PORT",
    default: "off",
    unset: null,
    meaning: "port on which GET /metrics tells what Curt does, for Prometheus; 0 picks a free port",
    takes: wholeNumber(0, 65_535),
  },
  metricsHost: {
    name: "METRICS_HOST",
    default: "127.0.0.1",
    meaning: "address to listen on for that; whoever can reach it can read the metrics",
    takes: host,
  },
} as const satisfies Record<string, Setting>;
