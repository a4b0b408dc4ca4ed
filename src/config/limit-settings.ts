import { limit, orAuto } from "./formats.ts";
import type { Setting } from "./setting.ts";

/** How much clients may do. */
export const LIMIT_SETTINGS = {
  limitCreate: {
    name: "LIMIT_CREATE",
    default: "auto",
    meaning:
      "how many links a client may make, such as 30/1m,1000/1d, or off; auto is 30/1m,1000/1d in public posture and off in private posture",
    takes: orAuto(limit),
  },
  limitUnknown: {
    name: "LIMIT_UNKNOWN",
    default: "auto",
    meaning:
      "how many addresses that lead nowhere a client may ask for, or off; auto is 60/1m in public posture and off in private posture",
    takes: orAuto(limit),
  },
  limitView: {
    name: "LIMIT_VIEW",
    default: "auto",
    meaning:
      "how often a client may ask for what costs more than a redirect (previews, statistics, images, availability, the reference), or off; auto is 120/1m in public posture and off in private posture",
    takes: orAuto(limit),
  },
  limitReport: {
    name: "LIMIT_REPORT",
    default: "10/1h",
    meaning: "how many reports a client may send, or off",
    takes: limit,
  },
  limitPasswords: {
    name: "LIMIT_PASSWORDS",
    default: "10/1h",
    meaning:
      "how many wrong passwords of links a client may try, or off; ten times as many may be tried for one link by everybody together",
    takes: limit,
  },
} satisfies Record<string, Setting>;
