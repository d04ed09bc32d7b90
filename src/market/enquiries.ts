// The budgets of the public surface: calls per address, in any minute and on one IST day. An address
// is an IPv4 address or a /64 of IPv6, which is what one subscriber is given.

import { createHmac } from "node:crypto";

import type { RedisClientType } from "@redis/client";
import type { FastifyBaseLogger } from "fastify";

import {
  type Ask,
  localRateWindow,
  type RateWindow,
  sharedRateWindow,
} from "../access/rate-window.ts";
import type { WindowState } from "../access/usage-rules.ts";
import { recordChanges } from "../journal/record-changes.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import type { BudgetName, Budgets } from "../kernel/budget.ts";
import type { Visit } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { houseFirmId, newId } from "../kernel/ids.ts";
import { canonicalJson } from "../kernel/json.ts";
import { subscriberNetwork } from "../kernel/networks.ts";
import type { Scheme } from "../kernel/scheme.ts";
import { dayMs, istDay, istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Creation } from "../platform/http/calls.ts";
import { keyFor, type SealedPlace, type SealedRow } from "../platform/master-key.ts";
import { open, seal, sealingKey } from "../platform/seal.ts";
import { findCurrentCards } from "../rates/current-cards.ts";
import {
  type EnquiryKind,
  estimateOf,
  forgetAt,
  type Person,
  personOf,
  secondsToMidnight,
  type Side,
} from "./public-rules.ts";
import type { Enquiry, Estimate, EstimateQuery } from "./public-schema.ts";
import {
  type EnquiryRow,
  insertEnquiry,
  listSealedPersons,
  type SealedEnquiry,
  setSealedPersons,
} from "./public-store.ts";

type Submission = Parameters<typeof personOf>[0] & {
  readonly kind: EnquiryKind;
  readonly scheme?: Scheme;
  readonly face_paise?: number;
  readonly requirement_paise?: number;
};

/** Sent twice while the first is open, it is one enquiry: a retry finds its original. */
export async function submitEnquiry(
  ctx: Context,
  { requestId, dryRun }: Visit,
  submission: Submission,
): Promise<Creation<Enquiry>> {
  const now = ctx.now();
  const person = personOf(submission);
  const about = {
    kind: submission.kind,
    scheme: submission.scheme ?? null,
    amount_paise: submission.face_paise ?? submission.requirement_paise ?? null,
  };
  const ref = newId("enq", now);
  const row: EnquiryRow = {
    enquiry_ref: ref,
    ...about,
    status: "received",
    person_sealed: sealPerson(person, ref, ctx),
    outcome: null,
    forget_at: forgetAt(now, null),
    version: 1,
    created_at: now,
    updated_at: now,
  };
  const visitor: Actor = { kind: "visitor", id: "public", requestId };
  return await ctx.db.transaction(
    async (tx): Promise<Creation<Enquiry>> => {
      const kept = await insertEnquiry(tx, row, digestOf({ ...about, ...person }, ctx));
      if (!kept) throw new Error("an enquiry is inserted or found");
      if (kept.enquiry_ref !== ref) return { outcome: "replayed", resource: viewEnquiry(kept) };
      const change = changeOfEnquiry("received", { before: null, after: kept });
      await recordChanges(tx, visitor, [change], now);
      return { outcome: dryRun ? "tried" : "created", resource: viewEnquiry(kept) };
    },
    { rollBack: dryRun },
  );
}

/** Recognises an enquiry without telling anything about who sent it to a reader of the table. */
function digestOf(enquiry: object, { sealKey }: Pick<Context, "sealKey">): Buffer {
  const key = keyFor("enquiries", sealingKey(sealKey));
  return createHmac("sha256", key).update(canonicalJson(enquiry)).digest();
}

const notes: Readonly<Record<Side | "none", string>> = {
  sell: "An estimate and not an offer. The price depends on how long a credit is still valid and on the market of the moment; a binding price is quoted for each credit.",
  buy: "An estimate and not an offer. Credits move whole, so a bundle may cover less than the amount; a binding price is quoted for each bundle.",
  none: "There is no estimate for this now. Send an enquiry and the desk will answer.",
};

export async function estimateEnquiry(
  { db, now }: Context,
  { side, scheme, amount_paise }: EstimateQuery,
): Promise<Estimate> {
  const cards = await findCurrentCards(db, "live");
  const estimate = estimateOf(cards.get(scheme), { side, amountPaise: amount_paise });
  const asked = { side, scheme, amount_paise };
  const told = { binding: false, as_of: istTimestamp(now()) };
  if (estimate.kind === "none") {
    return { ...asked, no_estimate: true, reason: estimate.reason, ...told, note: notes.none };
  }
  const { lowBps, highBps, lowPaise, highPaise } = estimate;
  return {
    ...asked,
    low_bps: lowBps,
    high_bps: highBps,
    low_paise: lowPaise,
    high_paise: highPaise,
    ...(side === "buy" && {
      savings_low_paise: amount_paise - highPaise,
      savings_high_paise: amount_paise - lowPaise,
    }),
    ...told,
    note: notes[side],
  };
}

/** Where calls are counted: those of the last minute, and those of a day under the day's name. */
export type AddressWindows = { readonly minute: RateWindow; readonly day: RateWindow };

export type Spend = (name: BudgetName, address: string) => Promise<void>;

/** Windows kept at once; whoever has been quiet longest makes room, so memory has an end. */
const addressesMax = 20_000;
const retryAfterMinuteS = 60;

export function localAddressWindows(elapsedMs: () => number): AddressWindows {
  return {
    minute: localRateWindow(elapsedMs, { trackedMax: addressesMax }),
    day: localRateWindow(elapsedMs, { trackedMax: addressesMax, windowMs: dayMs }),
  };
}

export function sharedAddressWindows(
  redis: RedisClientType,
  { fallback, log }: { readonly fallback: AddressWindows; readonly log: FastifyBaseLogger },
): AddressWindows {
  return {
    minute: sharedRateWindow(redis, { fallback: fallback.minute, log }),
    day: sharedRateWindow(redis, { fallback: fallback.day, log, windowMs: dayMs }),
  };
}

/** Lets a call in, or refuses it with the time to wait. What is refused enters no count. */
export function spender(
  { now }: Pick<Context, "now">,
  budgets: Budgets,
  windows: AddressWindows,
): Spend {
  return async (name, address) => {
    const { perMinute, perDay } = budgets[name];
    const instant = now();
    // Text that is no address can only come from a proxy that we trust; all of it is one address.
    const network = subscriberNetwork(address) ?? "unknown";
    const minute = { keyId: `${name}:${network}`, limit: perMinute };
    if (perDay === undefined) {
      if (!(await takeOne(windows.minute, minute)).admitted)
        throw usedUp("minute", retryAfterMinuteS);
      return;
    }
    const day = { keyId: `${name}:${istDay(instant)}:${network}`, limit: perDay };
    const taken = await takeOne(windows.day, day);
    if (!taken.admitted) throw usedUp("day", secondsToMidnight(instant));
    if ((await takeOne(windows.minute, minute)).admitted) return;
    await windows.day.giveBack(day, taken);
    throw usedUp("minute", retryAfterMinuteS);
  };
}

async function takeOne(window: RateWindow, ask: Ask): Promise<WindowState> {
  const [state] = await window.take([ask]);
  if (!state) throw new Error("a window answers every ask");
  return state;
}

function usedUp(span: "minute" | "day", retryAfterS: number): Failure {
  return new Failure("rate_limited", `the calls of this ${span} from your address are used up`, {
    form: "edge",
    detail: { retry_after_s: retryAfterS },
  });
}

/** What whoever holds the reference is shown. */
export function viewEnquiry(row: EnquiryRow): Enquiry {
  return {
    enquiry_ref: row.enquiry_ref,
    status: row.status,
    created_at: istTimestamp(row.created_at),
    updated_at: istTimestamp(row.updated_at),
    kept_until: istTimestamp(row.forget_at),
  };
}

/** An enquiry is the desk's own business, so it is recorded with the house. */
export function changeOfEnquiry(
  action: "received" | "closed" | "forgotten",
  { before, after }: { before: EnquiryRow | null; after: EnquiryRow | null },
): Change {
  const row = after ?? before;
  if (!row) throw new Error("a change is of something");
  return {
    environment: "live",
    deskId: houseFirmId.live,
    firmId: houseFirmId.live,
    action: `enquiry.${action}`,
    entity: {
      type: "enquiry",
      id: row.enquiry_ref,
      version: row.version,
      href: `/public/enquiry/${row.enquiry_ref}`,
    },
    before: before && viewEnquiry(before),
    after: after && viewEnquiry(after),
  };
}

/** Sealed for one enquiry: moved to another row it does not open. */
function sealPerson(person: Person, ref: string, { sealKey }: Pick<Context, "sealKey">) {
  return seal(JSON.stringify(person), sealPurpose(ref), sealKey);
}

export function openPerson(row: EnquiryRow, { sealKey }: Pick<Context, "sealKey">): Person {
  const text = open(row.person_sealed, sealPurpose(row.enquiry_ref), sealKey);
  return JSON.parse(text) as Person; // What sealPerson was given.
}

function sealPurpose(enquiryRef: string): string {
  return `enquiry ${enquiryRef}`;
}

/** Where it is sealed who sent an enquiry. */
export function sealedPersons(
  ctx: Pick<Context, "db" | "sealKey">,
): SealedPlace<SealedEnquiry & SealedRow> {
  return {
    name: "enquiries",
    list: async (after, limit) => {
      const rows = await listSealedPersons(ctx.db, after, limit);
      return rows.map((row) => ({ ...row, purpose: sealPurpose(row.id) }));
    },
    set: (rows) =>
      setSealedPersons(
        ctx.db,
        rows.map(({ row, text, sealed }) => {
          const { kind, scheme, amount_paise } = row;
          const person = JSON.parse(text) as Person; // What sealPerson was given.
          const digest = digestOf({ kind, scheme, amount_paise, ...person }, ctx);
          return { id: row.id, before: row.sealed, sealed, digest };
        }),
      ),
  };
}
