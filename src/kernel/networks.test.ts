import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import {
  forwardedAddress,
  isInside,
  isLoopback,
  isPublic,
  isEverywhere,
  parseNetwork,
  findNeighbourhood,
  subscriberNetwork,
} from "./networks.ts";

const octets = fc.tuple(...Array.from({ length: 4 }, () => fc.nat({ max: 255 })));

function toNumber(parts: readonly number[]): number {
  return parts.reduce((sum, part) => sum * 256 + part, 0);
}

test("an IPv4 address is inside a network exactly when their leading bits agree", () => {
  fc.assert(
    fc.property(octets, octets, fc.nat({ max: 32 }), fc.boolean(), (one, other, bits, near) => {
      // A neighbour shares all but the last byte, so that both answers are common.
      const address = near ? [...one.slice(0, 3), other[3] ?? 0] : other;
      const size = 2 ** (32 - bits);
      const agree = Math.floor(toNumber(one) / size) === Math.floor(toNumber(address) / size);
      assert.equal(isInside(address.join("."), [`${one.join(".")}/${bits}`]), agree);
      assert.equal(isInside(`::ffff:${address.join(".")}`, [`${one.join(".")}/${bits}`]), agree);
    }),
  );
});

test("a network is an address with or without a valid prefix length", () => {
  assert.deepEqual(parseNetwork("203.0.113.7"), {
    address: "203.0.113.7",
    family: "ipv4",
    bits: 32,
  });
  assert.equal(parseNetwork("203.0.113.0/24")?.bits, 24);
  assert.equal(parseNetwork("0.0.0.0/0")?.bits, 0);
  assert.deepEqual(parseNetwork("2001:db8::/32"), {
    address: "2001:db8::",
    family: "ipv6",
    bits: 32,
  });
  assert.equal(parseNetwork("::1")?.bits, 128);
  const wrong = [
    "",
    "example.com",
    "203.0.113",
    "203.0.113.256",
    "203.0.113.7/33",
    "203.0.113.7/",
    "203.0.113.7/-1",
    "203.0.113.7/8/8",
    "2001:db8::/129",
    "2001:db8:::1",
    " 203.0.113.7",
    "203.0.113.7\n",
    "0x7f.0.0.1",
    "fe80::1%eth0",
  ];
  for (const text of wrong) assert.equal(parseNetwork(text), undefined, text);
});

test("an IPv6 network contains its own addresses and no others", () => {
  const networks = ["2001:db8::/32", "::1"];
  for (const address of ["2001:db8::1", "2001:0DB8:ffff::", "::1"]) {
    assert.equal(isInside(address, networks), true, address);
  }
  for (const address of ["2001:db9::1", "::2", "203.0.113.7", "::ffff:203.0.113.7"]) {
    assert.equal(isInside(address, networks), false, address);
  }
});

test("an empty list of networks contains no address, and no network contains an invalid one", () => {
  assert.equal(isInside("203.0.113.7", []), false);
  assert.equal(isInside("203.0.113.7", ["nonsense"]), false);
  for (const text of ["", "localhost", "203.0.113.7.example"]) {
    assert.equal(isInside(text, ["0.0.0.0/0", "::/0"]), false, text);
  }
});

test("loopback is recognized in every spelling that a socket shows", () => {
  for (const address of ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "::FFFF:127.0.0.1"]) {
    assert.equal(isLoopback(address), true, address);
  }
  for (const address of ["", "128.0.0.1", "::2", "10.127.0.1", "::ffff:10.0.0.1", "0.0.0.0"]) {
    assert.equal(isLoopback(address), false, address);
  }
});

test("a subscriber is an IPv4 address or a /64, however the address is written", () => {
  const same: Record<string, string[]> = {
    "203.0.113.7": [
      "203.0.113.7",
      "::ffff:203.0.113.7",
      "::FFFF:cb00:7107",
      "0:0:0:0:0:ffff:cb00:7107",
    ],
    "2001:db8:1:2::/64": ["2001:db8:1:2::", "2001:0DB8:1:2:3:4:5:6", "2001:db8:1:2::203.0.113.7"],
    "2001:db8:0:0::/64": ["2001:db8::1", "2001:db8::ffff:1"],
    "fe80:0:0:0::/64": ["fe80::1%eth0", "fe80::2"],
    "0:0:0:0::/64": ["::1", "::"],
    "1:2:3:4::/64": ["1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::"],
  };
  for (const [network, addresses] of Object.entries(same)) {
    for (const address of addresses) assert.equal(subscriberNetwork(address), network, address);
  }
  for (const text of ["", "unknown", "203.0.113.7:80", "[::1]", "1.2.3", "::g"]) {
    assert.equal(subscriberNetwork(text), undefined, text);
  }
});

test("a neighbourhood is the /24 of an IPv4 address and the /48 of an IPv6 address, however it is written", () => {
  const neighbourhoods = {
    "203.0.113.0/24": ["203.0.113.7", "203.0.113.255", "::ffff:203.0.113.9"],
    "2001:db8:1::/48": ["2001:db8:1::1", "2001:0DB8:0001:ffff::", "2001:db8:1:2:3:4:5:6"],
    "2001:0:0::/48": ["2001::1", "2001:0:0:5::1"],
  };
  for (const [neighbourhood, addresses] of Object.entries(neighbourhoods)) {
    for (const address of addresses)
      assert.equal(findNeighbourhood(address), neighbourhood, address);
  }
  assert.equal(findNeighbourhood("unknown"), undefined);
});

test("a network of no bits, or of all IPv4 addresses inside IPv6, is everywhere", () => {
  const mapped = ["::ffff:0:0/96", "::ffff:0.0.0.0/96", "::/1", "::/80"];
  for (const text of ["0.0.0.0/0", "::/0", "203.0.113.7/0", "0.0.0.0/00", ...mapped]) {
    assert.equal(isEverywhere(text), true, text);
  }
  const narrow = ["0.0.0.0", "::", "0.0.0.0/1", "10.0.0.0/10", "::ffff:0:0/97", "2000::/3"];
  for (const text of [...narrow, "nonsense"]) {
    assert.equal(isEverywhere(text), false, text);
  }
});

test("only globally routable addresses are public, and no IPv4 inside IPv6", () => {
  for (const address of [
    "8.8.8.8",
    "1.1.1.1",
    "100.63.0.1",
    "172.32.0.1",
    "2600::1",
    "2a00:1450::1",
  ]) {
    assert.equal(isPublic(address), true, address);
  }
  const inside = [
    "127.0.0.1",
    "10.1.2.3",
    "169.254.169.254",
    "100.64.0.1",
    "::1",
    "fe80::1",
    "fd00::1",
  ];
  const embedded = [
    "::ffff:8.8.8.8",
    "::8.8.8.8",
    "64:ff9b::808:808",
    "2002:808:808::1",
    "2001::1",
  ];
  const neither = ["", "8.8.8", "localhost", "2600::1%eth0", "8.8.8.8:80", "[2600::1]"];
  for (const address of [...inside, ...embedded, ...neither]) {
    assert.equal(isPublic(address), false, address);
  }
});

test("no IPv4 address embedded in IPv6 is public, in any form of embedding", () => {
  fc.assert(
    fc.property(octets, (parts) => {
      const hex = parts.map((part) => part.toString(16).padStart(2, "0"));
      const [high, low] = [hex.slice(0, 2).join(""), hex.slice(2).join("")];
      for (const prefix of ["::ffff:", "::", "::ffff:0:", "64:ff9b::", "64:ff9b:1::"]) {
        assert.equal(isPublic(`${prefix}${high}:${low}`), false);
      }
      assert.equal(isPublic(`2002:${high}:${low}::1`), false);
    }),
  );
});

test("a forwarded entry is an address with or without a port, and anything else is refused", () => {
  for (const [entry, address] of [
    ["203.0.113.7", "203.0.113.7"],
    ["203.0.113.7:4711", "203.0.113.7"],
    ["2001:db8::1", "2001:db8::1"],
    ["[2001:db8::1]", "2001:db8::1"],
    ["[2001:db8::1]:4711", "2001:db8::1"],
    ["::ffff:203.0.113.7", "::ffff:203.0.113.7"],
    ["unknown", undefined],
    ["_hidden", undefined],
    ["127.evil", undefined],
    ["203.0.113.7:port", undefined],
    ["[203.0.113.7", undefined],
    ["", undefined],
  ] as const) {
    assert.equal(forwardedAddress(entry), address, entry);
  }
});

test("a text that only begins like a loopback address is not loopback", () => {
  for (const text of ["127.evil", "127.", "127.0.0.1.example", "127.0.0.1:80", "::10", ""]) {
    assert.equal(isLoopback(text), false, text);
  }
  for (const text of ["127.0.0.1", "127.255.0.3", "::1", "::ffff:127.0.0.1"]) {
    assert.equal(isLoopback(text), true, text);
  }
});
