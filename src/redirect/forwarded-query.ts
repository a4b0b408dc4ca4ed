import { forwardsQuery, type Link } from "../links/link.ts";
import { MAX_DESTINATION_LENGTH } from "../links/target.ts";

/** Parameters that our own pages add to a short address. */
const OWN_PARAMETERS = ["language"];

/**
 * Where a visit goes. `query` is the visitor's, with its question mark, or "". It stays as sent, but without our own parameters
 * and those that the target has. It is left out if the result would be too long.
 */
export function destinationOf(link: Pick<Link, "target" | "terms">, query: string): string {
  const { target } = link;
  if (!forwardsQuery(link) || query === "") return target;
  const [, address = "", own = "", fragment = ""] = /^([^?#]*)\??([^#]*)(.*)$/s.exec(target) ?? [];
  const taken = new Set(OWN_PARAMETERS);
  const ownPairs = own.split("&");
  for (const [nth, name] of namesOf(own).entries()) if (ownPairs[nth] !== "") taken.add(name);
  const sent = encode(query);
  const names = namesOf(sent);
  const isForwarded = (pair: string, nth: number) => pair === "" || !taken.has(names[nth] ?? "");
  const forwarded = sent.split("&").filter(isForwarded).join("&");
  if (!/[^&]/.test(forwarded)) return target;
  const destination = `${address}?${own === "" ? "" : `${own}&`}${forwarded}${fragment}`;
  return destination.length > MAX_DESTINATION_LENGTH ? target : destination;
}

/** A character that no name has, because names consist of bytes. */
const AMPERSAND = "\u{100}";

/**
 * The decoded name of each parameter (WHATWG URL, section 5.1), each byte as a character. All at once, because there may be
 * thousands.
 */
function namesOf(query: string): string[] {
  return query
    .replaceAll(/=[^&]*/g, "")
    .replaceAll("+", " ")
    .replaceAll(/%([\dA-F]{2})/gi, (_, hex: string) =>
      hex === "26" ? AMPERSAND : String.fromCharCode(Number.parseInt(hex, 16)),
    )
    .split("&");
}

/** Without its question mark, encoded like the query of a URL. Bun does that already, except in a request without `Host`. */
function encode(query: string): string {
  return URL.parse(query, "http://host")?.search.slice(1) ?? "";
}
