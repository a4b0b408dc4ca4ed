import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import * as fc from "fast-check";

import { openCountries, readCountry } from "../../src/visits/country.ts";
import { temporaryFolder } from "../support/service.ts";
import { database } from "./mmdb.ts";

function openDatabase(...of: Parameters<typeof database>): (address: string) => string {
  using folder = temporaryFolder();
  const file = join(folder.path, "country.mmdb");
  writeFileSync(file, database(...of));
  return openCountries(file);
}

const countryOf = openDatabase(6, {
  "203.0.113.0/24": { country_code: "KR" },
  "198.51.100.0/25": { country: { iso_code: "JP" } },
  "198.51.100.128/25": { country_code: "XX" },
  "192.0.2.0/24": { country_code: 410 },
  "192.0.3.0/24": { continent: "AS" },
  "2001:db8:1::/48": { country_code: "KR" },
  "2001:db8:2::/48": { country: { iso_code: "DE" } },
});

describe("the country of an address", () => {
  test("comes from the database, for IPv4 and IPv6", () => {
    const countries = {
      "203.0.113.0": "KR",
      "203.0.113.255": "KR",
      "203.0.114.0": "",
      "198.51.100.1": "JP",
      "2001:db8:1::1": "KR",
      "2001:db8:2:ffff::": "DE",
      "2001:db8:3::": "",
      // No ISO country, no country, no address.
      "198.51.100.200": "",
      "192.0.2.1": "",
      "192.0.3.1": "",
      "": "",
    };
    const results = Object.keys(countries).map((address) => [address, countryOf(address)]);
    expect(Object.fromEntries(results)).toEqual(countries);
  });

  test("is unknown for IPv6 if the database has only IPv4", () => {
    const country = openDatabase(4, { "32.0.0.0/8": { country_code: "KR" } });
    expect([country("32.1.1.1"), country("2001:db8::1")]).toEqual(["KR", ""]);
  });

  test("is a code of the database or empty for any text", () => {
    const part = fc.constantFrom("203.0.113.7", "2001:db8:1", ":", "::", ".", "%", "f", "1", " ");
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 80 }),
      fc.array(part, { maxLength: 12 }).map((parts) => parts.join("")),
      fc.ipV4(),
      fc.ipV6(),
    );
    fc.assert(fc.property(text, (address) => expect(countryOf(address)).toMatch(/^(?:KR|JP|DE)?$/)));
  });

  test("can't be read from a missing file or one that isn't a database", () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "country.mmdb");
    expect(() => openCountries(file)).toThrow("ENOENT");
    for (const text of ["", "no database", "\0".repeat(100_000)]) {
      writeFileSync(file, text);
      expect(() => openCountries(file)).toThrow();
    }
  });
});

test("readCountry accepts ISO 3166 codes in either case and nothing else", () => {
  const codes = ["KR", "kr", "US", "XK", "TW", "GB"];
  expect(codes.map((code) => readCountry(code))).toEqual(["KR", "KR", "US", "XK", "TW", "GB"]);
  const none = [..."XX T1 ZZ AA QM EU UN BP FL KOR K 한국 __".split(" "), "", "K ", "\uD800", "k\u0130"];
  expect(none.filter((text) => readCountry(text) !== "")).toEqual([]);
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) =>
      expect(readCountry(text)).toMatch(/^(?:[A-Z]{2})?$/),
    ),
  );
});
