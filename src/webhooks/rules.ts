// A subscription sends events to a URL. Its states:
//
//   active ──fail──▶ failing ──disable──▶ disabled
//      ▲────recover────┘                      │
//      └───────────────enable─────────────────┘
//
// Either may be paused, and goes on as active. A paused one is sent nothing: its events stay in the
// journal, and are sent when it goes on, those of its last seven days.
//
// It is failing after a day without a successful delivery, and disabled after five. The desk gets an
// event at each step, through its other subscriptions.

import { createHmac, createSecretKey, hash, type KeyObject, randomBytes } from "node:crypto";

import type { Environment } from "../kernel/caller.ts";
import { type FieldProblem, unprocessable } from "../kernel/failure.ts";
import type { Lifecycle } from "../kernel/lifecycle.ts";
import { dayMs } from "../kernel/time.ts";

export type WebhookState = "active" | "failing" | "disabled" | "paused";

export const webhookLifecycle = {
  noun: "webhook",
  initial: ["active"],
  states: ["active", "failing", "disabled", "paused"],
  moves: {
    fail: { from: ["active"], to: "failing", by: "clock" },
    recover: { from: ["failing"], to: "active", by: "clock" },
    disable: { from: ["active", "failing"], to: "disabled", by: "clock" },
    enable: { from: ["disabled"], to: "active" },
    pause: { from: ["active", "failing"], to: "paused" },
    resume: { from: ["paused"], to: "active" },
  },
} as const satisfies Lifecycle<WebhookState>;

/** Actions allowed in every state. */
export const webhookActions = ["test", "update", "rotate_secret", "delete"] as const;

export const everyEvent = "*";
export const webhooksPerDeskMax = 50;
export const descriptionLengthMax = 200;
/** Events from longer before a webhook goes on are dead letters. */
export const pausedDaysMax = 7;
export const urlLengthMax = 2_048;
export const graceSDefault = 86_400;
export const graceSMax = 604_800;

const secretPrefix = "whsec_";
const secretBytes = 32;
const hintLength = 4;
/** 26 hex digits, 104 bits of SHA-256: valid characters of an id, and enough to avoid collisions. */
const deliveryIdDigits = 26;

/** Days without a success after which the desk is warned, and after which the webhook is disabled. */
const warningDays = [1, 4] as const;
const disabledAfterDays = 5;

/** `whsec_` and 32 random bytes in base64, the secret format of Standard Webhooks. */
export function newSigningSecret(): { readonly secret: string; readonly hint: string } {
  const secret = `${secretPrefix}${randomBytes(secretBytes).toString("base64")}`;
  return { secret, hint: secret.slice(-hintLength) };
}

export function maskSecret(hint: string): string {
  return `${secretPrefix}…${hint}`;
}

/** The fields of an event that decide which subscriptions get it. */
export type SubscribedEvent = {
  readonly event_id: string;
  readonly sequence: number;
  readonly event: string;
  readonly firm_id: string;
  readonly entity_type: string;
  readonly entity_id: string;
  readonly entity_version: number;
};

type EventFilter = {
  readonly webhook_id: string;
  readonly firm_id: string | null;
  readonly events: readonly string[];
};

/** What somebody asks for as `event`, as `events`, or as both where they agree. */
export function chooseEvents({
  event,
  events,
}: {
  readonly event?: string | undefined;
  readonly events?: readonly string[] | undefined;
}): readonly string[] {
  const chosen = [...new Set(events ?? (event === undefined ? [] : [event]))];
  if (chosen.length === 0) {
    throw unprocessable({ path: "events", problem: "name what is sent, or * for all of it" });
  }
  if (event !== undefined && event !== oneEvent(chosen)) {
    throw unprocessable({ path: "event", problem: "says something else than events" });
  }
  return chosen.includes(everyEvent) ? [everyEvent] : chosen;
}

/** What `event` tells where there are several: all of them, or the first. */
export function oneEvent(events: readonly string[]): string {
  return events.includes(everyEvent) ? everyEvent : (events[0] ?? everyEvent);
}

/** A ping goes to its own subscription only; any other event about a webhook goes to the others. */
export function isWanted(
  { webhook_id, firm_id, events }: EventFilter,
  head: SubscribedEvent,
): boolean {
  if (head.event === "webhook.ping") return head.entity_id === webhook_id;
  if (head.entity_type === "webhook" && head.entity_id === webhook_id) return false;
  if (firm_id !== null && head.firm_id !== firm_id) return false;
  return events.includes(everyEvent) || events.includes(head.event);
}

/** Depends on subscription and event only, so that attempts, replays and restarts share one id. */
export function buildDeliveryId(webhookId: string, head: Omit<SubscribedEvent, "firm_id">): string {
  const { event_id, event, entity_type, entity_id, entity_version } = head;
  const named = [webhookId, event_id, event, entity_type, entity_id, entity_version].join("\n");
  return `dlv_${hash("sha256", named).slice(0, deliveryIdDigits)}`;
}

/** A secret that is ready to sign with; to prepare it takes longer than to sign. */
export type SigningKey = {
  /** Of the secret as text. */
  readonly text: KeyObject;
  /** Of the bytes that it encodes. */
  readonly bytes: KeyObject;
};

export function prepareKey(secret: string): SigningKey {
  return {
    text: createSecretKey(secret, "utf8"),
    bytes: createSecretKey(secret.slice(secretPrefix.length), "base64"),
  };
}

type DeliveryToSign = {
  readonly deliveryId: string;
  readonly event: string;
  readonly body: Buffer;
  readonly now: Date;
};

/** The headers of a delivery that is signed with secrets: as below. */
export function buildHeaders({
  secrets,
  ...delivery
}: DeliveryToSign & { readonly secrets: readonly string[] }) {
  return signHeaders(delivery, secrets.map(prepareKey));
}

/**
 * The headers of a delivery, signed with the current secret and with the previous one during its grace
 * period. `x-service-signature` is keyed with the secret as text, `webhook-signature` (Standard
 * Webhooks) with the decoded base64 bytes.
 */
export function signHeaders(
  { deliveryId, event, body, now }: DeliveryToSign,
  keys: readonly SigningKey[],
) {
  const [current, previous] = keys;
  if (!current) throw new Error("a delivery is signed with a secret");
  const timestamp = String(Math.floor(now.getTime() / 1_000));
  const standard = keys.map(({ bytes }) =>
    standardSignature(bytes, { deliveryId, timestamp, body }),
  );
  return {
    "content-type": "application/json",
    "user-agent": "Service-Webhooks/1",
    "x-service-event": event,
    "x-service-delivery": deliveryId,
    "x-service-signature": signBody(current.text, body),
    ...(previous !== undefined && {
      "x-service-signature-previous": signBody(previous.text, body),
    }),
    "webhook-id": deliveryId,
    "webhook-timestamp": timestamp,
    "webhook-signature": standard.join(" "),
  };
}

function signBody(key: KeyObject, body: Buffer): string {
  return `sha256=${createHmac("sha256", key).update(body).digest("hex")}`;
}

function standardSignature(
  key: KeyObject,
  { deliveryId, timestamp, body }: { deliveryId: string; timestamp: string; body: Buffer },
): string {
  const mac = createHmac("sha256", key).update(`${deliveryId}.${timestamp}.`).update(body);
  return `v1,${mac.digest("base64")}`;
}

/**
 * Ports of other protocols, which a request can speak by accident: the table of section 2.9, "Port
 * blocking", of the Fetch standard (https://fetch.spec.whatwg.org/#port-blocking).
 */
const blockedPorts: ReadonlyMap<string, string> = new Map(
  Object.entries({
    0: "reserved",
    1: "tcpmux",
    7: "echo",
    9: "discard",
    11: "systat",
    13: "daytime",
    15: "netstat",
    17: "qotd",
    19: "chargen",
    20: "ftp-data",
    21: "ftp",
    22: "ssh",
    23: "telnet",
    25: "smtp",
    37: "time",
    42: "name",
    43: "nicname",
    53: "domain",
    69: "tftp",
    77: "unassigned",
    79: "finger",
    87: "unassigned",
    95: "supdup",
    101: "hostname",
    102: "iso-tsap",
    103: "gppitnp",
    104: "acr-nema",
    109: "pop2",
    110: "pop3",
    111: "sunrpc",
    113: "auth",
    115: "sftp",
    117: "uucp-path",
    119: "nntp",
    123: "ntp",
    135: "epmap",
    137: "netbios-ns",
    139: "netbios-ssn",
    143: "imap",
    161: "snmp",
    179: "bgp",
    389: "ldap",
    427: "svrloc",
    465: "submissions",
    512: "exec",
    513: "login",
    514: "shell",
    515: "printer",
    526: "tempo",
    530: "courier",
    531: "chat",
    532: "netnews",
    540: "uucp",
    548: "afp",
    554: "rtsp",
    556: "remotefs",
    563: "nntps",
    587: "submission",
    601: "syslog-conn",
    636: "ldaps",
    989: "ftps-data",
    990: "ftps",
    993: "imaps",
    995: "pop3s",
    1719: "h323gatestat",
    1720: "h323hostcall",
    1723: "pptp",
    2049: "nfs",
    3659: "apple-sasl",
    4045: "npp",
    4190: "sieve",
    5060: "sip",
    5061: "sips",
    6000: "x11",
    6566: "sane-port",
    6665: "ircu",
    6666: "ircu",
    6667: "ircu",
    6668: "ircu",
    6669: "ircu",
    6679: "osaut",
    6697: "ircs-u",
    10080: "amanda",
  }),
);

/** The first rule that the URL breaks. `permitsHost` says whether its host may be reached. */
export function findUrlProblem(
  text: string,
  {
    environment,
    permitsHost,
  }: { environment: Environment; permitsHost: (host: string) => boolean },
): FieldProblem | undefined {
  const problem = (what: string) => ({ path: "url", problem: what });
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:")) {
    return problem(
      environment === "live"
        ? "must be an https:// address"
        : "must be an https:// or http:// address",
    );
  }
  if (environment === "live" && url.protocol !== "https:") {
    return problem("must be an https:// address in production");
  }
  if (url.href.length > urlLengthMax) return problem(`must be at most ${urlLengthMax} characters`);
  if (url.username !== "" || url.password !== "") return problem("must not carry a user name");
  if (url.hash !== "") return problem("must not have a fragment");
  const protocol = blockedPorts.get(url.port);
  if (protocol !== undefined) {
    return problem(`must not name port ${url.port} (${protocol}), which the Fetch standard blocks`);
  }
  if (!permitsHost(url.hostname)) return problem("must be reachable on the public internet");
  return undefined;
}

type Health = {
  readonly state: WebhookState;
  readonly warnings: number;
  readonly failingSince: Date;
  readonly now: Date;
};

/** Whether the first warning could be due. Saves a transaction for the many shorter outages. */
export function isWarningDue(failingSince: Date, now: Date): boolean {
  return now.getTime() - failingSince.getTime() >= warningDays[0] * dayMs;
}

export function decideOnFailing({ state, warnings, failingSince, now }: Health) {
  if (state === "disabled" || state === "paused") return "nothing";
  const failingMs = now.getTime() - failingSince.getTime();
  if (failingMs >= disabledAfterDays * dayMs) return "disable";
  const due = warningDays.filter((days) => failingMs >= days * dayMs).length;
  return due > warnings ? "warn" : "nothing";
}

/** When a subscription will be disabled if it keeps failing. */
export function disabledAt(failingSince: Date): Date {
  return new Date(failingSince.getTime() + disabledAfterDays * dayMs);
}
