import { duration, type Format, path, wholeNumber } from "./formats.ts";
import type { Setting } from "./setting.ts";

const upToMonth = duration("24h", "31d");
const MIN_MS = 1000;

const every: Format<number> = {
  right: "a time such as 24h or 6h, from 1s to 31d",
  parse(text) {
    const ms = upToMonth.parse(text);
    return ms !== undefined && ms >= MIN_MS ? ms : undefined;
  },
};

/** Backups that Curt makes by itself. */
export const BACKUP_SETTINGS = {
  backupFolder: {
    name: "BACKUP_DIR",
    default: "none",
    unset: null,
    meaning:
      "folder in which Curt keeps backups of its SQLite file that it makes by itself; without it, it makes none",
    takes: path,
  },
  backupEveryMs: {
    name: "BACKUP_EVERY",
    default: "24h",
    meaning: "how old the newest backup in BACKUP_DIR gets before Curt makes another one, such as 24h or 6h",
    takes: every,
  },
  backupKeep: {
    name: "BACKUP_KEEP",
    default: "7",
    meaning:
      "how many backups Curt keeps in BACKUP_DIR, 1 to 1000; it deletes the older ones that it made itself",
    takes: wholeNumber(1, 1000),
  },
} satisfies Record<string, Setting>;
