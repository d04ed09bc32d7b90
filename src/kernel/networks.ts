// IP addresses and networks, for allow-lists and for blocking private addresses.

import { BlockList, isIP } from "node:net";

type Network = { readonly address: string; readonly family: Family; readonly bits: number };

type Family = "ipv4" | "ipv6";

/** `203.0.113.7`, `203.0.113.0/24`, `2001:db8::/32`; undefined for anything else. */
export function parseNetwork(text: string): Network | undefined {
  const parts = /^([0-9a-fA-F.:]+)(?:\/(\d{1,3}))?$/.exec(text);
  const address = parts?.[1] ?? "";
  const version = isIP(address);
  if (version === 0) return undefined;
  const widest = version === 4 ? 32 : 128;
  const bits = parts?.[2] === undefined ? widest : Number(parts[2]);
  return bits <= widest ? { address, family: addressFamily(address), bits } : undefined;
}

/** Whether it holds every address of IPv4 or IPv6, so that a list with it keeps nobody out. */
export function isEverywhere(network: string): boolean {
  return parseNetwork(network)?.bits === 0 || isCoveredBy(mappedNetwork, [network]);
}

/** Every IPv4 address, as IPv6 writes them. */
const mappedNetwork = "::ffff:0:0/96";

export function isInside(address: string, networks: readonly string[]): boolean {
  const list = buildBlockList(networks);
  const plain = withoutMapping(address);
  return isIP(plain) !== 0 && list.check(plain, addressFamily(plain));
}

/** Whether all addresses of a network are in one of these. */
export function isCoveredBy(network: string, networks: readonly string[]): boolean {
  const inner = parseNetwork(network);
  if (!inner) return false;
  return networks.some((text) => {
    const outer = parseNetwork(text);
    return (
      outer?.family === inner.family && outer.bits <= inner.bits && isInside(inner.address, [text])
    );
  });
}

export function isLoopback(address: string): boolean {
  const plain = withoutMapping(address);
  return isIP(plain) !== 0 && (plain.startsWith("127.") || plain === "::1");
}

/**
 * The address in an entry of X-Forwarded-For: some proxies add the port (`203.0.113.7:4711`,
 * `[2001:db8::1]:4711`). Undefined for any other text.
 */
export function forwardedAddress(entry: string): string | undefined {
  if (isIP(entry) !== 0) return entry;
  const [, bracketed] = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(entry) ?? [];
  const [, withPort] = /^([\d.]+):\d{1,5}$/.exec(entry) ?? [];
  const address = bracketed ?? withPort ?? entry;
  return isIP(address) === 0 ? undefined : address;
}

/**
 * The network that one subscriber gets and can choose addresses from: an IPv4 address, or the /64 of
 * an IPv6 address. Undefined for any other text.
 */
export function subscriberNetwork(address: string): string | undefined {
  const plain = address.replace(/%.*$/, ""); // The zone of a link-local address is ours, not theirs.
  if (isIP(plain) === 4) return plain;
  if (isIP(plain) !== 6) return undefined;
  const groups = splitGroups(plain);
  if (groups.slice(0, 6).join(":") === mappedPrefix) return mappedIpv4(groups);
  return `${groups.slice(0, 4).join(":")}::/64`;
}

/** A neighbourhood may do as much as so many of its networks: behind a carrier's are thousands of people. */
export const networksOfNeighbourhood = 16;

/**
 * The network that one customer of a provider may get whole: the /24 of an IPv4 address, the /48 of an
 * IPv6 address. Many subscribers may share it. Undefined for any other text.
 */
export function findNeighbourhood(address: string): string | undefined {
  const subscriber = subscriberNetwork(address);
  if (subscriber === undefined) return undefined;
  if (isIP(subscriber) === 4) return subscriber.replace(/\.\d+$/, ".0/24");
  return subscriber.replace(/:[^:]+::\/64$/, "::/48");
}

const mappedPrefix = "0:0:0:0:0:ffff";

/** The eight groups of an IPv6 address, whichever way it was written. */
function splitGroups(address: string): string[] {
  const shortest = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [left = [], right = []] = shortest
    .split("::")
    .map((half) => half.split(":").filter(Boolean));
  const zeros = Array<string>(8 - left.length - right.length).fill("0");
  return [...left, ...zeros, ...right];
}

function mappedIpv4(groups: readonly string[]): string {
  const bytes = groups.slice(6).flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 255];
  });
  return bytes.join(".");
}

/**
 * Whether an address is global unicast. In IPv6 only 2000::/3 is, so mapped, compatible and translated
 * forms of IPv4 addresses are not public.
 */
export function isPublic(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !notPublic.check(address, "ipv4");
  return (
    version === 6 &&
    !address.includes("%") &&
    handedOut.check(address, "ipv6") &&
    !notPublic.check(address, "ipv6")
  );
}

const handedOut = buildBlockList(["2000::/3"]);

/** IANA's special-purpose registries, and one special address that is not in them. */
const notPublic = buildBlockList([
  "0.0.0.0/8", // this network
  "10.0.0.0/8", // private
  "100.64.0.0/10", // carrier-grade NAT
  "127.0.0.0/8", // loopback
  "168.63.129.16/32", // a cloud's own platform, seen from its machines
  "169.254.0.0/16", // link-local, and with it the metadata of most clouds
  "172.16.0.0/12", // private
  "192.0.0.0/24", // protocol assignments
  "192.0.2.0/24", // documentation
  "192.31.196.0/24", // AS112
  "192.52.193.0/24", // multicast relays
  "192.88.99.0/24", // 6to4 relays
  "192.168.0.0/16", // private
  "192.175.48.0/24", // AS112
  "198.18.0.0/15", // benchmarks
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, and broadcast
  "2001::/23", // protocol assignments: Teredo, ORCHID, benchmarks
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4
  "2620:4f:8000::/48", // AS112
  "3ffe::/16", // a test network that ended
  "3fff::/20", // documentation
]);

/** A dual-stack socket shows an IPv4 peer as `::ffff:203.0.113.7`. */
function withoutMapping(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  return mapped?.[1] ?? address;
}

function buildBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of networks) {
    const network = parseNetwork(text);
    if (network) list.addSubnet(network.address, network.bits, network.family);
  }
  return list;
}

function addressFamily(address: string): Family {
  return isIP(address) === 4 ? "ipv4" : "ipv6";
}
