import { one, type Snapshot, type SnapshotRequest } from "./catalogue.ts";
import { sumCounters } from "./text-format.ts";

/** The snapshot has only old counters of a slower process. */
const WAIT_MS = 2000;

/** One serving process. */
export interface Member {
  /** Takes a snapshot of the process, even a late one. */
  answer(snapshot: Snapshot): void;
  /** The process has ended. Its counters stay in the sums, so that none decreases. */
  leave(): void;
}

/** Collects the snapshots of all serving processes. */
export interface ProcessGroup {
  /** `send` sends a request to the process. It may throw if the process is unreachable. */
  join(send: (request: SnapshotRequest) => void): Member;
  /** Contains only the latest counters of a process that doesn't respond. */
  read(): Promise<readonly Snapshot[]>;
}

export function createProcessGroup(expected: number, waitMs = WAIT_MS): ProcessGroup {
  interface ReachableMember extends Member {
    readonly send: (request: SnapshotRequest) => void;
    last: Snapshot;
    /** Called with the response, or when there will be none. Requests may overlap. */
    readonly waiting: Set<(isAnswered: boolean) => void>;
  }
  const members = new Set<ReachableMember>();
  /** Counters of ended processes. */
  let past: Snapshot = {};

  function request(member: ReachableMember, samples: boolean): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const settle = (isAnswered: boolean) => {
      clearTimeout(timer);
      member.waiting.delete(settle);
      resolve(isAnswered);
    };
    const timer = setTimeout(settle, waitMs, false);
    member.waiting.add(settle);
    try {
      member.send({ samples });
    } catch {
      // The process is just ending.
      settle(false);
    }
    return promise;
  }

  return {
    join(send) {
      const member: ReachableMember = {
        send,
        last: {},
        waiting: new Set(),
        answer(snapshot) {
          member.last = snapshot;
          for (const settle of member.waiting) settle(true);
        },
        leave() {
          if (!members.delete(member)) return;
          past = sumCounters([past, member.last]);
          for (const settle of member.waiting) settle(false);
        },
      };
      members.add(member);
      return member;
    },

    async read() {
      const requested = [...members];
      const answers = await Promise.all(requested.map((member, nth) => request(member, nth === 0)));
      const present = requested.filter((member, nth) => answers[nth] === true && members.has(member));
      const silent = [...members].filter((member) => !present.includes(member));
      const processes = [
        one(present.length, { state: "answering" }),
        one(Math.max(0, expected - present.length), { state: "missing" }),
      ];
      return [
        { curt_processes: processes },
        past,
        ...present.map(({ last }) => last),
        ...silent.map(({ last }) => sumCounters([last])),
      ];
    },
  };
}
