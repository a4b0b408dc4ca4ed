import type { Code } from "../links/code.ts";
import type { Right } from "../links/edit.ts";
import type { LinkId } from "../links/link-store.ts";
import { hasPassword, type WithTerms } from "../links/link.ts";
import { isProblem } from "../links/problem.ts";
import type { Secret } from "../links/secret.ts";
import type { Call } from "./call.ts";
import { createUserReader, isFromAnotherSite, type ReadUser } from "./credentials.ts";
import { pathOf } from "./url.ts";

export interface RightsOptions {
  readonly secret: Pick<Secret, "isManageKey" | "hash">;
  readonly createUserHeader: string | null;
  /** The setting EDITORS. */
  readonly editors: "maker" | "everybody";
}

/** Decides who may do what with a link. Nothing else compares keys and names. */
export interface Rights {
  /** Whether a proxy may name people. */
  readonly hasPeople: boolean;
  /** The person who sends a call. Undefined for everybody else, and always where no proxy names people. */
  readonly personOf: ReadUser;
  /** `key` is "" without one. */
  rightOf(link: LinkId<Code> & WithTerms, key: string, person: string | undefined): Right | undefined;
  /** The same for a person, by the link's owner and whether it has a password. */
  rightOfPerson(owner: string | undefined, isSecret: boolean, person: string): Right | undefined;
  /**
   * Our pages send it with the forms of a person. Over plain HTTP, browsers don't say whether a form without a referrer comes from
   * another site.
   */
  formTokenOf(person: string): string;
}

export function createRights({ secret, createUserHeader, editors }: RightsOptions): Rights {
  const readUser = createUserReader(createUserHeader);
  return {
    hasPeople: createUserHeader !== null,
    personOf(call) {
      const person = readUser(call);
      return !isProblem(person) && isForeignRead(call) ? undefined : person;
    },
    formTokenOf: (person) => secret.hash("form", ["person", person]),
    rightOf(link, key, person) {
      if (key !== "" && secret.isManageKey(key, link)) return "maker";
      return person === undefined ? undefined : rightOfPerson(link.terms?.owner, hasPassword(link), person);
    },
    rightOfPerson,
  };

  function rightOfPerson(owner: string | undefined, isSecret: boolean, person: string): Right | undefined {
    if (person === owner) return "maker";
    // With a password, the maker has chosen who reaches the destination.
    return editors === "everybody" && !isSecret ? "editor" : undefined;
  }
}

/**
 * Whether a script of another site reads the API. The proxy may know the browser by its address, and then names its person
 * also for requests without cookies, which every site may send and read.
 */
function isForeignRead(call: Call): boolean {
  return pathOf(call.request).startsWith("/api/") && isFromAnotherSite(call);
}
