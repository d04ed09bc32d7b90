// IP addresses and networks, as allow-lists name them.

import { BlockList, isIP } from "node:net";

export type Network = { readonly address: string; readonly family: Family; readonly bits: number };

type Family = "ipv4" | "ipv6";

/** `203.0.113.7`, `203.0.113.0/24`, `2001:db8::/32`; undefined for anything else. */
export function parseNetwork(text: string): Network | undefined {
  const parts = /^([0-9a-fA-F.:]+)(?:\/(\d{1,3}))?$/.exec(text);
  const address = parts?.[1] ?? "";
  const version = isIP(address);
  if (version === 0) return undefined;
  const widest = version === 4 ? 32 : 128;
  const bits = parts?.[2] === undefined ? widest : Number(parts[2]);
  return bits <= widest ? { address, family: familyOf(address), bits } : undefined;
}

export function isInside(address: string, networks: readonly string[]): boolean {
  const list = new BlockList();
  for (const text of networks) {
    const network = parseNetwork(text);
    if (network) list.addSubnet(network.address, network.bits, network.family);
  }
  const plain = withoutMapping(address);
  return isIP(plain) !== 0 && list.check(plain, familyOf(plain));
}

export function isLoopback(address: string): boolean {
  const plain = withoutMapping(address);
  return plain.startsWith("127.") || plain === "::1";
}

/** A dual-stack socket shows an IPv4 peer as `::ffff:203.0.113.7`. */
function withoutMapping(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  return mapped?.[1] ?? address;
}

function familyOf(address: string): Family {
  return isIP(address) === 4 ? "ipv4" : "ipv6";
}
