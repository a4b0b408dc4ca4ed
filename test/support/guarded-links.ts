import type { NewLink } from "../../src/links/link-store.ts";
import type { Terms } from "../../src/links/link.ts";
import type { Target } from "../../src/links/target.ts";
import { newLink } from "../stores/links.ts";
import { openStoreOf, type RunningService } from "./service.ts";

interface Wanted extends Pick<
  Terms,
  "startsMs" | "maxVisits" | "passwordHash" | "forwardQuery" | "forwardPath"
> {
  readonly password?: string;
  readonly target?: string;
  readonly createdMs?: number;
}

/** Makes a password check cost next to nothing. */
const CHEAP = { algorithm: "argon2id", memoryCost: 8, timeCost: 1 } as const;

export const hashCheaply = (password: string) => Bun.password.hash(password.normalize("NFC"), CHEAP);

/** Creates a link with terms. */
export async function addGuarded(service: RunningService, code: string, wanted: Wanted): Promise<NewLink> {
  const [link] = await addAllGuarded(service, [code], wanted);
  return link as NewLink;
}

/** Creates links with the same terms. */
export async function addAllGuarded(
  service: RunningService,
  codes: readonly string[],
  { target, createdMs = Date.now(), password, ...terms }: Wanted,
): Promise<NewLink[]> {
  const passwordHash = password === undefined ? terms.passwordHash : await hashCheaply(password);
  const links = codes.map((code) =>
    newLink(code, {
      createdMs,
      ...(target !== undefined && { originalUrl: target, target: new URL(target).href as Target }),
      terms: { ...terms, ...(passwordHash !== undefined && { passwordHash }) },
    }),
  );
  await using store = await openStoreOf(service);
  if ((await store.insert(links)).includes(false)) throw new Error(`${codes.join()} are taken`);
  return links;
}
