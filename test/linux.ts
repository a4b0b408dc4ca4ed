import { test } from "bun:test";

const SPREADS = "only Linux spreads the connections of a shared port over processes (SO_REUSEPORT)";

/** Tests that need Linux, and why. They are skipped on other systems. `test/run.ts` allows no other skipped tests. */
export const NEEDS_LINUX: Readonly<Record<string, string>> = {
  "is ended during a stop before it listens": "finds the process in /proc",
  "log once that they listen, after all do": "counts the listening sockets in /proc",
  "share the port, and a link of one redirects immediately in all": SPREADS,
  "refuse an operator's session after a sign-out in one of them": SPREADS,
  "follow changes of forward_query in one of them": SPREADS,
  "redirect a reused code to its new link, even if each had the old one in its cache": SPREADS,
  "of one process: the others serve on, and another takes its place": SPREADS,
  "of the supervisor leaves no process behind, and the store whole": SPREADS,
  "a newer version takes over 1 under load: nothing is lost, and proxies need not show an error": SPREADS,
  "a newer version takes over 3 under load: nothing is lost, and proxies need not show an error": SPREADS,
  "SIGUSR2 during the start ends nothing": "reads /proc",
  "a stop in the middle of a hand-over complains of nothing": "reads /proc",
  "more connections than file descriptors: open ones are served, and the others once there is room":
    "reads /proc",
  "without file descriptors, no thread is started, and the process lives on": "reads /proc",
  "that cannot make a folder says so": "tries it in /proc",
  "200 requests with one key make one link and get one answer, whichever process is killed meanwhile":
    SPREADS,
  "a start on a full disk: links redirect without being counted until there is room":
    "limits file sizes with prlimit",
  "a stop of two processes keeps the log's files if the disk is nearly full, although no write has failed":
    "mounts a small file system in a namespace",
  "a start without room for the log says how much it needs, which is enough":
    "mounts a small file system in a namespace",
  "a stop after a full disk keeps the files that the next start might find no room for":
    "limits file sizes with prlimit",
  "the database's disk is full: cached links redirect, what cannot be known is 503, and it is over by itself":
    "limits file sizes with prlimit",
  "without room on the disk says so and leaves nothing": "limits file sizes in blocks of 512 bytes",
  "for PostgreSQL's log: it stops, and is used again once it is started with room":
    "limits file sizes with prlimit",
  "one by one, over a checkpoint: each link is synced to disk before its 201 is sent": "traces with ptrace",
  "500 at once: each link is synced to disk before its 201 is sent, and they share their syncs":
    "traces with ptrace",
  "of the SQLite file, curt import ends with 74 and reports no success": "traces with ptrace",
  "of the SQLite file, curt import ends with 74 even if it failed before for another reason":
    "traces with ptrace",
  "of the SQLite file, curt backup ends with 74 and reports no success": "traces with ptrace",
  "of the store's folder, curt import ends with 74 and adds nothing": "traces with ptrace",
  "of the new file, curt backup and curt restore end with 74 and leave nothing": "traces with ptrace",
  "of the SQLite file, curt events --resend ends with 74 and reports no success": "traces with ptrace",
  "a backup that was logged as made is on disk, whole and by its name": "traces with ptrace",
  "the proof finds what it looks for": "traces with ptrace",
  "of the log ends Curt, and what later runs confirm survives a power cut": "traces with ptrace",
  "loses no link of a store that another program keeps open over the restart": "traces with ptrace",
  "of the file ends Curt, while a reader limits checkpoints, and nothing confirmed is lost":
    "traces with ptrace",
  "in one of two processes ends both": "traces with ptrace",
  "a segment is marked as synced only after its sync, and the mark is synced too": "traces with ptrace",
  "a new backup, its folder and the id of the store are on disk once it is logged": "traces with ptrace",
  "a folder that exists is synced too: a start may have been killed before it was": "traces with ptrace",
  "a start is refused while the name of the new log cannot be synced": "traces with ptrace",
  "PROCESSES=1 with all settings: nothing that Curt does drops its locks, and an outside reader changes nothing":
    "reads /proc/locks",
  "PROCESSES=2 with all settings: nothing that Curt does drops its locks, and an outside reader changes nothing":
    "reads /proc/locks",
  "say what a file cannot be written for, and leave nothing of it": "writes to /dev/full",
  "a full disk is logged once as a warning without a stack": "writes to /dev/full",
};

/** Only takes tests from the list above. */
export function testOnLinux(name: string, run: () => Promise<void>): void {
  if (!Object.hasOwn(NEEDS_LINUX, name)) throw new Error(`${name} is not listed in test/linux.ts`);
  test.skipIf(process.platform !== "linux")(name, run);
}
