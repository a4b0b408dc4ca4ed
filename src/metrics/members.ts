import type { Reading } from "./catalogue.ts";
import type { ReadingRequest } from "./reading.ts";
import { countedIn } from "./text-format.ts";
import { one } from "./values.ts";

/** A process that takes longer does not take part in this answer. */
const WAIT_MS = 2000;

/** One serving process. */
export interface Member {
  /** Takes what the process answered, even if that is too late for the answer it was asked for. */
  answer(reading: Reading): void;
  /** The process has ended. What it counted stays in the sums, so that no counter goes back. */
  leave(): void;
}

/** Asks all serving processes for what they have to tell. */
export function createMembers(expected: number, waitMs = WAIT_MS) {
  interface Asked extends Member {
    readonly ask: (request: ReadingRequest) => void;
    last: Reading;
    /** Told when it answers, or cannot any more. Two may ask at the same time. */
    readonly waiting: Set<(isAnswered: boolean) => void>;
  }
  const members = new Set<Asked>();
  /** What those counted that have ended. */
  let past: Reading = {};

  function request(member: Asked, samples: boolean): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const settle = (isAnswered: boolean) => {
      clearTimeout(timer);
      member.waiting.delete(settle);
      resolve(isAnswered);
    };
    const timer = setTimeout(settle, waitMs, false);
    member.waiting.add(settle);
    try {
      member.ask({ samples });
    } catch {
      // It is just ending.
      settle(false);
    }
    return promise;
  }

  return {
    /** `ask` makes the process answer. It may throw if the process cannot be reached any more. */
    join(ask: Asked["ask"]): Member {
      const member: Asked = {
        ask,
        last: {},
        waiting: new Set(),
        answer(reading) {
          member.last = reading;
          for (const settle of member.waiting) settle(true);
        },
        leave() {
          if (!members.delete(member)) return;
          past = countedIn([past, member.last]);
          for (const settle of member.waiting) settle(false);
        },
      };
      members.add(member);
      return member;
    },

    /** Of a process that does not answer, only what it had counted when it last did. */
    async read(): Promise<readonly Reading[]> {
      const asked = [...members];
      const answers = await Promise.all(asked.map((member, nth) => request(member, nth === 0)));
      const present = asked.filter((member, nth) => answers[nth] === true && members.has(member));
      const silent = [...members].filter((member) => !present.includes(member));
      const processes = [
        one(present.length, { state: "answering" }),
        one(Math.max(0, expected - present.length), { state: "missing" }),
      ];
      return [
        { curt_processes: processes },
        past,
        ...present.map(({ last }) => last),
        ...silent.map(({ last }) => countedIn([last])),
      ];
    },
  };
}
