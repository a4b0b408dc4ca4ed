import { test } from "bun:test";

const SPREADS = "only Linux spreads the connections of a shared port over processes (SO_REUSEPORT)";

/** Tests that need Linux, and why. They are skipped on other systems. `test/run.ts` allows no other skipped tests. */
export const NEEDS_LINUX: Readonly<Record<string, string>> = {
  "is killed during a stop before it listens": "finds the process in /proc",
  "log once that they listen, after all do": "counts the listening sockets in /proc",
  "share the port, and a link of one redirects immediately in all": SPREADS,
  "refuse an operator's session after a sign-out in one of them": SPREADS,
  "follow changes of forward_query in one of them": SPREADS,
  "find a new link in any capitals, with and without a path": SPREADS,
  "redirect a reused code to its new link, even if each had the old one in its cache": SPREADS,
  "a killed process is replaced, and the others keep serving": SPREADS,
  "a killed supervisor leaves no process behind, and the store intact": SPREADS,
  "PROCESSES=1: a newer version takes over under load, and every request succeeds within three tries":
    SPREADS,
  "PROCESSES=3: a newer version takes over under load, and every request succeeds within three tries":
    SPREADS,
  "SIGUSR2 during a start is ignored": "reads /proc",
  "a stop during a hand-over exits with 0 and logs no warning": "reads /proc",
  "with more connections than file descriptors, open ones are served, and the others once there is room":
    "reads /proc",
  "without free file descriptors, links redirect and pages get 503, and both work again afterwards":
    "reads /proc",
  "reports a folder that it can't create": "tries it in /proc",
  "200 requests with one idempotency key create their links once and get equal responses, even if a process is killed":
    SPREADS,
  "after a start on a full disk, links redirect without counting visits until there is room, and limited links get 503":
    "limits file sizes with prlimit",
  "a stop of two processes keeps the log's files on a nearly full disk, even if no write has failed":
    "mounts a small file system in a namespace",
  "a start without room for the log reports how much room it needs, and that much suffices":
    "mounts a small file system in a namespace",
  "a stop after a full disk keeps the log's files, for which the next start might lack room":
    "limits file sizes with prlimit",
  "when the database's disk is full, cached links redirect, other requests get the right response or 503, and service recovers":
    "limits file sizes with prlimit",
  "reports a full disk and leaves no file": "limits file sizes in blocks of 512 bytes",
  "says how many links stay after the disk became full": "limits file sizes in blocks of 512 bytes",
  "links redirect while BACKUP_DIR hangs": "traces with ptrace",
  "keeps a complete backup if the disk of the store is full": "limits file sizes in blocks of 512 bytes",
  "stops if its log has no room, and is used again once it is restarted with room":
    "limits file sizes with prlimit",
  "each link is on disk before its 201 is sent, also across a checkpoint": "traces with ptrace",
  "500 simultaneous creates are on disk before their 201 is sent, and share syncs": "traces with ptrace",
  "curt import exits with 74 and reports no success if a sync of the SQLite file fails": "traces with ptrace",
  "curt import exits with 74 if a sync of the SQLite file fails after another error": "traces with ptrace",
  "curt backup exits with 74 and reports no success if a sync of the SQLite file fails": "traces with ptrace",
  "curt import exits with 74 and adds nothing if a sync of the store's folder fails": "traces with ptrace",
  "curt backup and curt restore exit with 74 and leave nothing if a sync of the new file fails":
    "traces with ptrace",
  "curt events --resend exits with 74 and reports no success if a sync of the SQLite file fails":
    "traces with ptrace",
  "a backup is on disk, complete and under its name, before the log reports it": "traces with ptrace",
  "visits that have waited for the store for a minute survive a power cut": "traces with ptrace",
  "lostCodes finds the codes that planted faults lose": "traces with ptrace",
  "a failed sync of the log ends Curt, and links confirmed before and after it survive a power cut":
    "traces with ptrace",
  "a failed sync of the log loses no later link if another program reads the store before and after the restart":
    "traces with ptrace",
  "a failed sync of the SQLite file loses no link of a store that another program keeps open over the restart":
    "traces with ptrace",
  "a failed sync of the SQLite file and a kill before Curt sees it loses no link of a store that another program keeps open over the restart":
    "traces with ptrace",
  "a failed sync of the SQLite file ends Curt and loses no link, even if no more files can be opened":
    "traces with ptrace",
  "a failed sync of the SQLite file ends Curt, and confirmed links survive although a reader limits checkpoints":
    "traces with ptrace",
  "a failed sync in one of two processes ends both": "traces with ptrace",
  "a segment is marked as synced only after its sync, and the mark is synced as well": "traces with ptrace",
  "a new backup, its folder and the id of the store are synced before the log reports it":
    "traces with ptrace",
  "createFolder syncs an existing folder as well, because an earlier start may have been killed before its sync":
    "traces with ptrace",
  "a start exits with 74 while the folder of the new log can't be synced": "traces with ptrace",
  "PROCESSES=1: no feature drops Curt's locks on the store, so outside readers can't replace its log":
    "reads /proc/locks",
  "PROCESSES=2: no feature drops Curt's locks on the store, so outside readers can't replace its log":
    "reads /proc/locks",
  "examineDisk finds out that a disk in memory doesn't store what it is given": "writes to /dev/shm",
  "report why a file can't be written, and leave no part of it": "writes to /dev/full",
  "a full disk is logged once as a warning without a stack, and counted by itself": "writes to /dev/full",
};

/** Only takes tests from the list above. */
export function testOnLinux(name: string, run: () => Promise<void>): void {
  if (!Object.hasOwn(NEEDS_LINUX, name)) throw new Error(`${name} is not listed in test/linux.ts`);
  test.skipIf(process.platform !== "linux")(name, run);
}
