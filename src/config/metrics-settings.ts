import { hostAndPort } from "./formats.ts";
import type { Setting } from "./setting.ts";

/** How the service tells what it does. */
export const METRICS_SETTINGS = {
  metrics: {
    name: "METRICS_PORT",
    default: "off",
    unset: null,
    meaning:
      "port on which GET /metrics reports what Curt does, for Prometheus, with an address before it if it isn't 127.0.0.1, such as 10.0.0.5:9464; whoever can reach it can read the metrics; port 0 is any free one",
    takes: hostAndPort,
  },
} as const satisfies Record<string, Setting>;
