// Keys that tests call with, and keys that nobody was ever given.

import { crc32 } from "node:zlib";

import type { Environment } from "../../src/kernel/caller.ts";
import { newId } from "../../src/kernel/ids.ts";
import { makeApiKey } from "../../src/access/key-rules.ts";
import type { Service } from "./service.ts";
import { clientFirm } from "./firms.ts";

export type ChildKey = { readonly key_id: string; readonly api_key: string };

/** A child minted through the front door. */
export async function mintChild(
  { send }: Service,
  root: string,
  body: Readonly<Record<string, unknown>> = {},
): Promise<ChildKey> {
  const asked = { name: "child", kind: "app", scopes: ["*"], ...body };
  return (await send("POST", "/v1/keys", { key: root, body: asked, expect: 201 })).body;
}

/** A client firm of a desk. */
export async function addClientFirm(
  service: Service,
  deskId: string,
  environment: Environment = "sandbox",
): Promise<string> {
  return (await clientFirm(service, deskId, { environment })).firmId;
}

/** A key that is formed in every respect like a real one and was never issued. */
export function unknownKey(environment: Environment, now: Date): string {
  return makeApiKey(environment, newId("key", now)).apiKey;
}

const prefixes = { live: "service_live_", sandbox: "service_test_" } as const;

/** The same key id and secret under the other environment's prefix, with a checksum that is right. */
export function underOtherPrefix(apiKey: string): string {
  const [from, to] = apiKey.startsWith(prefixes.live)
    ? [prefixes.live, prefixes.sandbox]
    : [prefixes.sandbox, prefixes.live];
  const open = to + apiKey.slice(from.length, -6);
  return open + computeChecksum(open);
}

/** As the key's format is published, and written a second time here on purpose. */
function computeChecksum(text: string): string {
  const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  let rest = crc32(text);
  let digits = "";
  while (digits.length < 6) {
    digits = base62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
