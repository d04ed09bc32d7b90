// Notices tell people by mail what they would otherwise have to look for.
//
//   occasion   the name of an event that people are told of
//   address    of a desk, of a person who runs the service, or of a firm's contact
//   notice     one mail to one address about one occasion; events that happened together share it
//
//   waiting ──accepted by the mail server──▶ sent
//      │ ▲
//      │ └──────send again──────┐
//      ├──refused or too old──▶ dead
//      └──address removed or opted out──▶ dropped

import { createHmac, timingSafeEqual } from "node:crypto";

import { isSamePerson, type OperatorRole, type Permission } from "../kernel/actor.ts";
import { findEmailProblem } from "../kernel/identifiers.ts";
import { rupeesText } from "../kernel/money.ts";
import { dayMs, dayText, istDayStart, monthText, timeText } from "../kernel/time.ts";
import { isPermitted } from "../operators/rules.ts";
import type { Words } from "./template-rules.ts";

export const deskOccasions = [
  "payout.paid",
  "payout.returned",
  "credit.expiring",
  "firm.mandate_expiring",
  "firm.bank_changed",
  "statement.ready",
  "task.waiting",
  "task.late",
  "webhook.disabled",
] as const;

export const personOccasions = [
  "enquiry.received",
  "approval.proposed",
  "operator.sign_in_failing",
  "operator.recovered",
  "machine.refused",
  "schedule.failed",
  "webhook.disabled",
] as const;

/** Whoever was a firm's contact until lately is told of its account: a thief changes the contact first. */
const formerContactMs = 30 * dayMs;

/**
 * Whether the contact of a firm is told: of its account, also not long after it was replaced, and of its
 * tasks while it is the contact.
 */
export function concernsContact(
  contact: { readonly firmId: string; readonly lastContactAt: Date; readonly isPresent: boolean },
  event: { readonly occasion: Occasion; readonly firmId: string; readonly createdAt: Date },
): boolean {
  if (event.firmId !== contact.firmId) return false;
  const { occasion, createdAt } = event;
  if (occasion === "task.waiting" || occasion === "task.late") return contact.isPresent;
  const sinceMs = createdAt.getTime() - contact.lastContactAt.getTime();
  return occasion === "firm.bank_changed" && sinceMs <= formerContactMs;
}

export type Occasion = (typeof deskOccasions)[number] | (typeof personOccasions)[number];

export const occasions: readonly Occasion[] = [
  ...new Set<Occasion>([...personOccasions, ...deskOccasions]),
];

export function findOccasion(event: string): Occasion | undefined {
  return occasions.find((occasion) => occasion === event);
}

/** In a sentence: "notices when …". */
export const occasionWords: Readonly<Record<Occasion, string>> = {
  "enquiry.received": "an enquiry arrives",
  "approval.proposed": "an approval waits",
  "operator.sign_in_failing": "attempts to sign in fail",
  "operator.recovered": "an admin is let in on the machine",
  "machine.refused": "a call with a machine's token is refused",
  "schedule.failed": "what runs by itself fails",
  "webhook.disabled": "a webhook is disabled",
  "payout.paid": "a payout is paid",
  "payout.returned": "a payout comes back",
  "credit.expiring": "a credit expires soon",
  "firm.mandate_expiring": "a mandate ends soon",
  "firm.bank_changed": "a firm's bank account is changed",
  "statement.ready": "a statement is ready",
  "task.waiting": "a task waits",
  "task.late": "a task is late",
};

export const noticeStates = ["waiting", "sent", "dead", "dropped"] as const;
export type NoticeState = (typeof noticeStates)[number];

/** Of a desk, or of a person. */
export const addressesPerOwnerMax = 10;
const emailLengthMax = 254;

/** What is wrong with an address that mail is to be sent to. */
export function findAddressProblem(email: string): string | undefined {
  const isPlain = /^[!-~]+$/.test(email) && email.length <= emailLengthMax;
  return isPlain ? findEmailProblem(email) : "must be an email address in plain ASCII";
}

/** Addresses that differ in case only are one. */
export function normalizeEmail(given: string): string {
  return given.trim().toLowerCase();
}

/** `a***@acme.example`, for a page that whoever holds the link sees. */
export function maskAddress(email: string): string {
  return `${email.slice(0, 1)}***${email.slice(email.lastIndexOf("@"))}`;
}

type Person = { readonly name: string; readonly role: OperatorRole; readonly status: string };

const neededPermissions: Partial<Record<Occasion, Permission>> = {
  "enquiry.received": "enquiries.read",
  "operator.sign_in_failing": "operators.write",
  "operator.recovered": "operators.write",
  "machine.refused": "operators.write",
  "schedule.failed": "bank.write",
  "webhook.disabled": "webhooks.write",
};

/** Whether a person is told: who can do something about it, and did not do it. */
export function concernsPerson(
  person: Person,
  occasion: Occasion,
  data: Readonly<Record<string, unknown>>,
): boolean {
  if (person.status === "disabled") return false;
  const needed = neededPermissions[occasion];
  if (needed !== undefined) return isPermitted(person.role, needed);
  const approvers = Array.isArray(data["approvers"]) ? data["approvers"] : [];
  const mayApprove = person.role === "admin" || approvers.includes(person.role);
  return mayApprove && !isSamePerson(person.name, String(data["proposed_by"]));
}

/** Seconds before each attempt after a temporary refusal: half a day in all. */
const retryS = [60, 300, 900, 3_600, 10_800, 28_800] as const;
/** What is older is not sent: it would mislead. */
export const ageMaxMs = 3 * 86_400_000;

/** What became of an attempt. */
type SendResult =
  | { readonly kind: "accepted"; readonly answer: string }
  | {
      readonly kind: "refused";
      readonly permanent: boolean;
      readonly reason: "refused" | "deferred" | "timeout" | "network";
      readonly answer: string;
    };

type Settled = {
  readonly state: NoticeState;
  readonly reason: string | null;
  readonly answer: string;
  readonly dueAt: Date;
};

/** The next state of a notice after its attempt number `attempts`. */
export function settleAttempt(
  result: SendResult,
  { attempts, queuedAt, now }: { attempts: number; queuedAt: Date; now: Date },
): Settled {
  const { answer } = result;
  if (result.kind === "accepted") return { state: "sent", reason: null, answer, dueAt: now };
  const { reason } = result;
  const delayS = retryS[attempts - 1];
  if (result.permanent || delayS === undefined)
    return { state: "dead", reason, answer, dueAt: now };
  const dueAt = new Date(now.getTime() + delayS * 1_000);
  const isLate = dueAt.getTime() - queuedAt.getTime() > ageMaxMs;
  return isLate
    ? { state: "dead", reason: "too_old", answer, dueAt: now }
    : { state: "waiting", reason, answer, dueAt };
}

/** While the mail server cannot be reached all notices wait: 5 s at first, at most 5 minutes. */
export function computePauseMs(failures: number): number {
  return Math.min(300_000, 5_000 * 2 ** Math.min(failures - 1, 10));
}

export type OptOut = { readonly addressId: string; readonly occasion: Occasion };

const signatureBytes = 16;

/** What the link of a notice carries: it stops one occasion for one address, and nothing else. */
export function signOptOut({ addressId, occasion }: OptOut, key: Buffer): string {
  const content = `${addressId} ${occasion}`;
  return Buffer.concat([sign(content, key), Buffer.from(content)]).toString("base64url");
}

/** Undefined for a token that none of these keys signed. */
export function openOptOut(token: string, keys: readonly Buffer[]): OptOut | undefined {
  const bytes = Buffer.from(token, "base64url");
  const signature = bytes.subarray(0, signatureBytes);
  const content = bytes.subarray(signatureBytes).toString();
  const isGenuine =
    signature.length === signatureBytes &&
    keys.some((key) => timingSafeEqual(signature, sign(content, key)));
  const [addressId = "", name = ""] = content.split(" ");
  const occasion = findOccasion(name);
  return isGenuine && occasion ? { addressId, occasion } : undefined;
}

function sign(content: string, key: Buffer): Buffer {
  return createHmac("sha256", key).update(content).digest().subarray(0, signatureBytes);
}

// The values that an event gives to the template of its occasion, in words for people. No secret is
// among them: accounts are not named, and of a webhook's address only the host is.

export type ToldEvent = {
  readonly occasion: Occasion;
  readonly sequence: number;
  readonly firmId: string;
  readonly entityId: string;
  readonly createdAt: Date;
  readonly data: Readonly<Record<string, unknown>>;
};

/** An event as the journal has it; undefined for one that nobody is told of, as of what the house does. */
export function readToldEvent(
  body: string,
  findOccasion: (event: string) => Occasion | undefined,
): ToldEvent | undefined {
  const event = JSON.parse(body) as {
    readonly event: string;
    readonly sequence: number;
    readonly firm_id: string;
    readonly created_at: string;
    readonly entity: { readonly id: string };
    readonly data: Readonly<Record<string, unknown>>;
  };
  const occasion = event.data["by"] === "house" ? undefined : findOccasion(event.event);
  return (
    occasion && {
      occasion,
      sequence: event.sequence,
      firmId: event.firm_id,
      entityId: event.entity.id,
      createdAt: new Date(event.created_at),
      data: event.data,
    }
  );
}

/** The firms that a notice of this event names. */
export function listNamedFirms({ firmId, data }: ToldEvent): string[] {
  return [firmId, ...(typeof data["desk_id"] === "string" ? [data["desk_id"]] : [])];
}

/** `nameFirm` gives the name of a firm. */
export function describeEvent(event: ToldEvent, nameFirm: (firmId: string) => string): Words {
  const { data, entityId } = event;
  const firm = nameFirm(event.firmId);
  switch (event.occasion) {
    case "payout.paid":
      return { firm, id: entityId, amount: sayAmount(data["amount_paise"]), utr: say(data["utr"]) };
    case "payout.returned": {
      const reason = say(data["reason"]).replaceAll("_", " ");
      return { firm, id: entityId, amount: sayAmount(data["amount_paise"]), reason };
    }
    case "credit.expiring":
      return {
        firm,
        scrip_no: say(data["scrip_no"]),
        scheme: say(data["scheme"]),
        face: sayAmount(data["face_paise"]),
        last_day: sayDay(data["expires_on"]),
        days_left: sayDays(data["days_left"]),
      };
    case "firm.mandate_expiring":
      return {
        firm,
        reference: say(data["reference"]),
        last_day: dayText(new Date(say(data["valid_until"]))),
        days_left: sayDays(data["days_left"]),
      };
    case "firm.bank_changed":
      return { firm, bank: sayBank(data["bank"]), former_bank: sayBank(data["former_bank"]) };
    case "statement.ready":
      return { firm, month: monthText(say(data["period"])), number: say(data["statement_no"]) };
    case "task.waiting":
    case "task.late":
      // Neither the other side nor any account is named: a mail can be read and forged on its way.
      return { id: entityId, what: describeTask(data), due: sayDeadline(data["due_at"]) };
    case "webhook.disabled":
      return {
        id: entityId,
        of: nameFirm(typeof data["desk_id"] === "string" ? data["desk_id"] : event.firmId),
        host: sayHost(data["url"]),
        since: sayTime(data["failing_since"]),
      };
    case "enquiry.received":
      return { id: entityId, what: describeEnquiry(data) };
    case "operator.sign_in_failing":
      return {
        name: say(data["name"]),
        failures: say(data["failures"]),
        from: say(data["last_from"]),
        at: sayTime(event.createdAt.toISOString()),
      };
    case "operator.recovered":
      return {
        name: say(data["name"]),
        by: say(data["by"]),
        reason: say(data["reason"]),
        at: sayTime(data["recovered_at"]),
      };
    case "machine.refused":
      return {
        name: say(data["name"]),
        refusal: say(data["refusal"]),
        from: say(data["last_from"]),
        holder: say(data["held_by"]),
        at: sayTime(event.createdAt.toISOString()),
      };
    case "schedule.failed":
      return {
        name: say(data["name"]),
        said: say(data["said"]),
        at: sayTime(event.createdAt.toISOString()),
      };
    case "approval.proposed": {
      const value = data["value_paise"];
      return {
        id: entityId,
        kind: say(data["kind"]),
        value: value === null ? "no money" : sayAmount(value),
        by: say(data["proposed_by"]),
        until: sayTime(data["expires_at"]),
      };
    }
  }
}

function describeEnquiry({ kind, scheme, amount_paise }: ToldEvent["data"]): string {
  const amount = typeof amount_paise === "number" ? ` ${sayAmount(amount_paise)}` : "";
  const of = typeof scheme === "string" ? ` of ${scheme}` : "";
  if (kind === "sell") return `somebody wants to sell${amount}${of}`;
  if (kind === "buy")
    return `somebody wants to cover${amount} of duty${of && ` with ${String(scheme)}`}`;
  return "somebody asks something";
}

function describeTask({ kind, amount_paise, face_paise }: ToldEvent["data"]): string {
  if (kind === "pay") return `pay ${sayAmount(amount_paise)}`;
  const move = kind === "accept" ? "accept" : "initiate";
  return `${move} the transfer of a credit of ${sayAmount(face_paise)}`;
}

/** What waits for another to act first has no deadline. */
function sayDeadline(value: unknown): string {
  return value === null ? "without a deadline" : `by ${sayTime(value)}`;
}

/** The last digits of a masked number, and no more of the account. */
function sayBank(value: unknown): string {
  if (typeof value !== "object" || value === null) return "no account";
  const masked = "account_no_masked" in value ? say(value.account_no_masked) : "";
  return `the account ending in ${masked.slice(-4)}`;
}

function say(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "–";
}

function sayAmount(value: unknown): string {
  return typeof value === "number" ? `₹${rupeesText(value)}` : "–";
}

function sayDay(value: unknown): string {
  return dayText(istDayStart(say(value)));
}

function sayTime(value: unknown): string {
  const at = new Date(say(value));
  return `${dayText(at)}, ${timeText(at)}`;
}

function sayDays(value: unknown): string {
  const days = Number(value);
  if (days === 0) return "today";
  return days === 1 ? "1 day left" : `${days} days left`;
}

function sayHost(value: unknown): string {
  return URL.canParse(say(value)) ? new URL(say(value)).host : "–";
}
