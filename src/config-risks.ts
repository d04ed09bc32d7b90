// What a configuration leaves open although it works: told when the service starts, and by `doctor`.

import type { Config } from "./config.ts";
import { isEverywhere, isLoopback } from "./kernel/networks.ts";

type Exposed = Pick<
  Config,
  "databaseUrl" | "databaseReadUrl" | "redisUrl" | "trustProxy" | "webhookAllowCidrs"
>;

export function listRisks(config: Exposed): string[] {
  return [...listOpenWires(config), ...listOpenLists(config)];
}

/** Addresses that statements and counts, and so money and personal data, go to without encryption. */
export function listOpenWires({ databaseUrl, databaseReadUrl, redisUrl }: Exposed): string[] {
  return [
    ...listOpen("DATABASE_URL", databaseUrl, isPostgresInTheClear, "add sslmode=verify-full"),
    ...listOpen(
      "DATABASE_READ_URL",
      databaseReadUrl,
      isPostgresInTheClear,
      "add sslmode=verify-full",
    ),
    ...listOpen("REDIS_URL", redisUrl, isRedisInTheClear, "use rediss://"),
  ];
}

function listOpen(
  name: string,
  address: string | undefined,
  isInTheClear: (url: URL) => boolean,
  remedy: string,
): string[] {
  if (address === undefined || !isInTheClear(new URL(address))) return [];
  return [`${name} leads to another machine without TLS: ${remedy}, or use a private network`];
}

/** As the driver reads it: without one of these there is no TLS, or only where the server likes. */
const encrypting = new Set(["require", "verify-ca", "verify-full", "no-verify"]);

function isPostgresInTheClear({ hostname, searchParams }: URL): boolean {
  const host = searchParams.get("host") ?? decodeURIComponent(hostname);
  const isEncrypted =
    encrypting.has(searchParams.get("sslmode") ?? "") ||
    ["true", "1"].includes(searchParams.get("ssl") ?? "");
  return !isEncrypted && !isHere(host);
}

function isRedisInTheClear({ protocol, hostname }: URL): boolean {
  return protocol === "redis:" && !isHere(hostname);
}

/** This machine, or a socket of it. */
function isHere(host: string): boolean {
  const plain = host.replace(/^\[(.*)\]$/, "$1");
  return plain === "" || plain.startsWith("/") || plain === "localhost" || isLoopback(plain);
}

/** An allow-list with a network that holds every address keeps nobody out. */
function listOpenLists({ trustProxy, webhookAllowCidrs }: Exposed): string[] {
  return [
    ...(trustProxy.some(isEverywhere)
      ? ["TRUST_PROXY trusts every address, so callers can forge theirs: name your proxies"]
      : []),
    ...(webhookAllowCidrs.some(isEverywhere)
      ? ["WEBHOOK_ALLOW_CIDRS allows every address, also private ones: name your networks"]
      : []),
  ];
}
