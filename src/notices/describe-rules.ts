// The values that an event gives to the template of its occasion, in words for people. No secret is
// among them: accounts are not named, and of a webhook's address only the host is.

import { rupeesText } from "../kernel/money.ts";
import { dayText, istDayStart, monthText, timeText } from "../kernel/time.ts";
import type { Occasion } from "./rules.ts";
import type { Words } from "./template-rules.ts";

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
