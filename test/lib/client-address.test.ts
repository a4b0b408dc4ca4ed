import { describe, expect, test } from "bun:test";

import * as fc from "fast-check";

import {
  clientNetwork,
  clientSite,
  createClientAddress,
  isTrusted,
  type Network,
  parseNetwork,
} from "../../src/lib/client-address.ts";

function networks(...texts: string[]): Network[] {
  return texts.map((text) => {
    const network = parseNetwork(text);
    if (network === undefined) throw new Error(`${text} is no network`);
    return network;
  });
}

const TRUSTED = networks("10.0.0.0/8", "127.0.0.1", "2001:db8:ffff::/48", "::1");
const clientAddress = createClientAddress(TRUSTED);

/** The peer, `X-Forwarded-For`, and the client. */
const CLIENTS: readonly (readonly [string, string | null, string])[] = [
  ["203.0.113.7", null, "203.0.113.7"],
  ["10.0.0.1", null, "10.0.0.1"],
  ["10.0.0.1", "", "10.0.0.1"],
  // Headers of untrusted peers are ignored.
  ["203.0.113.7", "198.51.100.9", "203.0.113.7"],
  ["2001:db8::7", "198.51.100.9", "2001:db8::7"],
  ["10.0.0.1", "198.51.100.9", "198.51.100.9"],
  ["127.0.0.1", "198.51.100.9", "198.51.100.9"],
  ["::1", "198.51.100.9", "198.51.100.9"],
  // The left part came from the client.
  ["10.0.0.1", "1.1.1.1, 198.51.100.9", "198.51.100.9"],
  ["10.0.0.1", "1.1.1.1,198.51.100.9,10.2.3.4 ,\t10.9.9.9", "198.51.100.9"],
  ["10.0.0.1", "10.2.3.4, 10.9.9.9", "10.2.3.4"],
  ["10.0.0.1", "1.1.1.1, unknown, 10.9.9.9", "10.9.9.9"],
  ["10.0.0.1", "1.1.1.1, , 10.9.9.9", "10.9.9.9"],
  ["10.0.0.1", "198.51.100.9, unknown", "10.0.0.1"],
  ["10.0.0.1", "198.51.100.9,", "10.0.0.1"],
  ["10.0.0.1", ",", "10.0.0.1"],
  ["10.0.0.1", "1.1.1.1, 010.0.0.9", "10.0.0.1"],
  ["10.0.0.1", "1.1.1.1, 0x7f000001", "10.0.0.1"],
  ["10.0.0.1", "1.1.1.1, 127.1", "10.0.0.1"],
  ["10.0.0.1", "1.1.1.1, 198.51.100.9:http", "10.0.0.1"],
  ["10.0.0.1", "1.1.1.1, 198.51.100.256", "10.0.0.1"],
  ["10.0.0.1", "1.1.1.1, [198.51.100.9", "10.0.0.1"],
  ["10.0.0.1", "198.51.100.9:5678", "198.51.100.9"],
  ["10.0.0.1", "[2001:DB8::0:9]:80", "2001:db8::9"],
  ["10.0.0.1", "[2001:db8::9]", "2001:db8::9"],
  ["10.0.0.1", "2001:db8:0:0:0:0:0:9", "2001:db8::9"],
  ["10.0.0.1", "198.51.100.9, 2001:db8:ffff::1", "198.51.100.9"],
  ["10.0.0.1", "::ffff:198.51.100.9", "198.51.100.9"],
  ["10.0.0.1", "[::ffff:c633:6409]:1", "198.51.100.9"],
  ["::ffff:10.0.0.1", "198.51.100.9", "198.51.100.9"],
  ["::ffff:203.0.113.7", "198.51.100.9", "203.0.113.7"],
  ["fe80::1%eth0", null, "fe80::1"],
  ["", "198.51.100.9", ""],
  ["/run/curt.sock", "198.51.100.9", ""],
];

describe("the client's address", () => {
  test("comes from X-Forwarded-For only through trusted proxies, read from the right up to the first stranger or unreadable entry", () => {
    for (const [peer, forwarded, client] of CLIENTS)
      expect([peer, forwarded, clientAddress(peer, forwarded)]).toEqual([peer, forwarded, client]);
  });

  test("is the peer's if nobody is trusted", () => {
    const untrusting = createClientAddress([]);
    for (const [peer] of CLIENTS) expect(untrusting(peer, "198.51.100.9")).toBe(clientAddress(peer, null));
  });

  test("comes from the last 32 entries at most", () => {
    const proxies = (count: number) => Array.from({ length: count }, (_, n) => `10.1.1.${n}`).join();
    expect(clientAddress("10.0.0.1", `198.51.100.9,${proxies(31)}`)).toBe("198.51.100.9");
    expect(clientAddress("10.0.0.1", `198.51.100.9,${proxies(32)}`)).toBe("10.1.1.0");
    expect(clientAddress("10.0.0.1", `198.51.100.9,${"10.1.1.1,".repeat(1500)}10.1.1.2`)).toBe("10.1.1.1");
  });

  test("is an IP address, or empty if the peer has none, whatever the header says", () => {
    const parts = fc.constantFrom(..."10.0.0.1 1.1.1.1 , [ ] : ::1 % / 999 ff".split(" "), " ", "\0");
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 300 }),
      fc.array(parts, { maxLength: 60 }).map((list) => list.join("")),
    );
    fc.assert(
      fc.property(text, text, (peer, forwarded) => {
        for (const client of [clientAddress(peer, forwarded), clientAddress("10.0.0.1", forwarded)])
          expect(client).toMatch(/^[0-9a-f:.]{0,39}$/);
        expect(clientAddress("203.0.113.7", forwarded)).toBe("203.0.113.7");
      }),
    );
    for (const long of ["\uD800", ",", "[", ":", "1.", " ", "1:"].map((part) =>
      part.repeat(16_384 / part.length),
    ))
      expect([clientAddress("10.0.0.1", long), clientAddress(long, long)]).toEqual(["10.0.0.1", ""]);
  });
});

test("a client is an IPv4 address or a /64 of IPv6, and ::1 counts as 127.0.0.1", () => {
  expect(["192.0.2.1", "2001:db8::1", "127.0.0.1", ""].map(clientNetwork)).toEqual([
    "192.0.2.1",
    "2001:db8:0:0",
    "127.0.0.1",
    "",
  ]);
  expect(clientNetwork("2001:db8::ffff:0:0:1")).toBe("2001:db8:0:0");
  expect(clientNetwork("::1")).toBe("127.0.0.1");
});

test("the networks of a /48 share the limits of a group, and IPv4 addresses, translated or not, have no group", () => {
  expect(["2001:db8:0:0", "2001:db8:0:ffff", "2001:db8:1:0"].map(clientSite)).toEqual([
    "2001:db8:0",
    "2001:db8:0",
    "2001:db8:1",
  ]);
  for (const client of ["192.0.2.1", "", "64:ff9b:1::808:808", "64:ff9b:1:808:8:800::"])
    expect([client, clientSite(client)]).toEqual([client, undefined]);
});

test("a client is its IPv4 address below 64:ff9b::/96, its whole address below 64:ff9b:1::/48, and its /64 below other prefixes", () => {
  const clientOf = (peer: string) => clientNetwork(createClientAddress([])(peer, null));
  expect(clientOf("64:ff9b::8.8.4.4")).toBe("8.8.4.4");
  expect(clientOf("64:ff9b::808:808")).toBe("8.8.8.8");
  expect(clientAddress("10.0.0.1", "64:ff9b::808:808")).toBe("8.8.8.8");
  // A local prefix may have the IPv4 address anywhere.
  for (const addresses of [
    ["64:ff9b:1::808:808", "64:ff9b:1::808:404"],
    ["64:ff9b:1:808:8:800::", "64:ff9b:1:808:4:400::"],
  ])
    expect(addresses.map(clientOf)).toEqual(addresses);
  expect(clientOf("64:ff9c::808:808")).toBe("64:ff9c:0:0");
});

test("a translated private address such as 64:ff9b::10.0.0.1 isn't trusted as 10.0.0.1", () => {
  for (const address of ["64:ff9b::10.0.0.1", "64:ff9b::127.0.0.1"]) {
    expect(isTrusted(TRUSTED, address)).toBe(false);
    expect(clientAddress(address, "198.51.100.9")).toBe(createClientAddress([])(address, null));
  }
});

test("an address is trusted if its network is, also if it is IPv4-mapped; 0.0.0.0/0 and ::/0 don't include each other", () => {
  const trusted = ["10.255.0.1", "::ffff:10.0.0.1", "::1", "0:0::1", "2001:db8:ffff:9::"];
  const strange = ["11.0.0.1", "127.0.0.2", "::2", "2001:db8::1", "::10.0.0.1", "10.1", "x", ""];
  expect(trusted.filter((address) => !isTrusted(TRUSTED, address))).toEqual([]);
  expect(strange.filter((address) => isTrusted(TRUSTED, address))).toEqual([]);
  expect(isTrusted(networks("0.0.0.0/0"), "203.0.113.7")).toBe(true);
  expect(isTrusted(networks("0.0.0.0/0"), "2001:db8::1")).toBe(false);
  expect(isTrusted(networks("::ffff:203.0.113.0/120"), "203.0.113.7")).toBe(true);
  // All of IPv6 doesn't include all of IPv4.
  expect(isTrusted(networks("::/0"), "203.0.113.7")).toBe(false);
});
