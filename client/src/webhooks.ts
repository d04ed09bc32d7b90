// Whether a delivery is the service's own.
//
// It carries two signatures. X-Service-Signature is of the body alone. `webhook-signature` is of the
// delivery's id, the time it was sent and the body: without it anybody who once saw a delivery could
// send it again, or under another id. Both have to hold.

import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";

import { ScripdeskError } from "./errors.ts";
import type { Event } from "./schemas.ts";

/** As a server has them: `Headers`, or `request.headers` of Node. */
export type WebhookHeaders =
  | Headers
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export type VerifyOptions = {
  /** How long ago it may have been sent, and how far ahead its clock may be. Default 300. */
  readonly tolerance_s?: number | undefined;
  /** The time it is compared with. */
  readonly now?: Date | undefined;
};

export type VerifiedWebhook = {
  /** The same on every attempt and replay: do the work once for each. */
  readonly delivery_id: string;
  readonly event: Event;
};

const toleranceSDefault = 300;
const secretPrefix = "whsec_";

/**
 * The event of a genuine delivery; throws `forged_webhook` for any other. `rawBody` is the bytes as they
 * came. `secret` is the webhook's, or while it changes the new one and the old one.
 */
export function verifyWebhook(
  rawBody: Uint8Array | string,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { tolerance_s: toleranceS = toleranceSDefault, now = new Date() }: VerifyOptions = {},
): VerifiedWebhook {
  const secrets = [secret].flat();
  if (secrets.length === 0 || secrets.some((text) => !text.startsWith(secretPrefix))) {
    throw new TypeError(`the secret must begin with ${secretPrefix}`);
  }
  const given = (name: string) => readHeader(headers, name);
  const signatures = ["x-service-signature", "x-service-signature-previous"].map(given);
  const isSigned = secrets.some((key) => matchesAny(signatures, signBody(key, rawBody)));
  if (!isSigned) throw forged("the signature is not of this body and secret");

  const id = given("webhook-id");
  const timestamp = given("webhook-timestamp");
  const stamped = given("webhook-signature").split(" ");
  const isStamped = secrets.some((key) =>
    matchesAny(stamped, signStamped(key, { id, timestamp, rawBody })),
  );
  if (!isStamped) throw forged("the signature is not of this id and time");
  if (given("x-service-delivery") !== id) throw forged("the delivery has two ids");
  const ageS = now.getTime() / 1_000 - Number(timestamp);
  if (!/^\d+$/.test(timestamp) || !(Math.abs(ageS) <= toleranceS)) {
    throw forged("it was sent too long ago, or a clock is wrong");
  }
  const text = typeof rawBody === "string" ? rawBody : new TextDecoder().decode(rawBody);
  return { delivery_id: id, event: JSON.parse(text) as Event };
}

export type SignedWebhook = {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** A delivery as the service would sign it, to test a receiver with. The id and the time are made unless given. */
export function signWebhook(
  event: { readonly event: string },
  secret: string,
  given: { readonly delivery_id?: string | undefined; readonly now?: Date | undefined } = {},
): SignedWebhook {
  const { delivery_id: id = `dlv_${randomUUID().replaceAll("-", "")}`, now = new Date() } = given;
  const timestamp = String(Math.floor(now.getTime() / 1_000));
  const body = JSON.stringify(event);
  const headers = {
    "content-type": "application/json",
    "x-service-event": event.event,
    "x-service-delivery": id,
    "x-service-signature": signBody(secret, body),
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signStamped(secret, { id, timestamp, rawBody: body }),
  };
  return { body, headers };
}

function readHeader(headers: WebhookHeaders, name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? "";
  const found = Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  return typeof found === "string" ? found : (found?.[0] ?? "");
}

function signBody(secret: string, rawBody: Uint8Array | string): string {
  return `sha256=${createHmac("sha256", secret).update(rawBody).digest("hex")}`;
}

function signStamped(
  secret: string,
  { id, timestamp, rawBody }: { id: string; timestamp: string; rawBody: Uint8Array | string },
): string {
  const key = Buffer.from(secret.slice(secretPrefix.length), "base64");
  const mac = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(rawBody);
  return `v1,${mac.digest("base64")}`;
}

/** In a time that does not depend on how much of a text is right. */
function matchesAny(given: readonly string[], expected: string): boolean {
  const wanted = Buffer.from(expected);
  return given.some((text) => {
    const bytes = Buffer.from(text);
    return bytes.length === wanted.length && timingSafeEqual(bytes, wanted);
  });
}

function forged(message: string): ScripdeskError {
  return new ScripdeskError({ slug: "forged_webhook", message });
}
