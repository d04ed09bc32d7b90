// Enquiries of people without a key: submitted, estimated, answered by the operator, deleted in time.
// The personal data of an enquiry is sealed.

import { createHmac } from "node:crypto";

import { countDaysLeft } from "../credits/rules.ts";
import { recordChanges } from "../journal/record-changes.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import type { Visit } from "../kernel/caller.ts";
import { invalidQuery } from "../kernel/failure.ts";
import { houseFirmId, newId } from "../kernel/ids.ts";
import { exactJson, canonicalJson } from "../kernel/json.ts";
import type { Scheme, Side } from "../kernel/scheme.ts";
import { istDay, istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import type { Creation } from "../platform/http/calls.ts";
import { keyFor, type SealedPlace, type SealedRow } from "../platform/master-key.ts";
import { open, seal, sealingKey } from "../platform/seal.ts";
import { findCurrentCards } from "../rates/current-cards.ts";
import {
  computeRetentionEnd,
  type EnquiryKind,
  estimatePrice,
  parsePerson,
  type Person,
} from "./public-rules.ts";
import type { Enquiry, Estimate, EstimateQuery } from "./public-schema.ts";
import {
  type EnquiryRow,
  insertEnquiry,
  listSealedPersons,
  type SealedEnquiry,
  setSealedPersons,
} from "./public-store.ts";

type EnquirySubmission = Parameters<typeof parsePerson>[0] & {
  readonly kind: EnquiryKind;
  readonly scheme?: Scheme;
  readonly face_paise?: number;
  readonly requirement_paise?: number;
};

/** The same enquiry sent again while the first is open is a replay of the first. */
export async function submitEnquiry(
  ctx: Context,
  { requestId, dryRun }: Visit,
  submission: EnquirySubmission,
): Promise<Creation<Enquiry>> {
  const now = ctx.now();
  const person = parsePerson(submission);
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
    forget_at: computeRetentionEnd(now, null),
    version: 1,
    created_at: now,
    updated_at: now,
  };
  const visitor: Actor = { kind: "visitor", id: "public", requestId };
  return await ctx.db.transaction(
    async (tx): Promise<Creation<Enquiry>> => {
      const kept = await insertEnquiry(tx, row, keyedDigest({ ...about, ...person }, ctx));
      if (!kept) throw new Error("the enquiry was neither inserted nor found");
      if (kept.enquiry_ref !== ref) return { outcome: "replayed", resource: viewEnquiry(kept) };
      const change = describeChange("received", { before: null, after: kept });
      await recordChanges(tx, visitor, [change], now);
      return { outcome: dryRun ? "dry_run" : "created", resource: viewEnquiry(kept) };
    },
    { rollBack: dryRun },
  );
}

const notes: Readonly<Record<Side | "none", string>> = {
  sell: "An estimate and not an offer. The price depends on how long a credit is still valid and on the market of the moment; a binding price is quoted for each credit.",
  buy: "An estimate and not an offer. Credits move whole, so a bundle may cover less than the amount; a binding price is quoted for each bundle.",
  none: "There is no estimate for this now. Send an enquiry and the desk will answer.",
};

/** By the live card; for the preview of a desk that has not opened yet, by the sandbox's. */
export async function estimateEnquiry(
  { db, now }: Context,
  { side, scheme, amount_paise, expires_on, environment = "live" }: EstimateQuery,
): Promise<Estimate> {
  if (side === "buy" && expires_on !== undefined) {
    throw invalidQuery("expires_on", "goes with side=sell only");
  }
  const instant = now();
  const daysLeft =
    expires_on === undefined ? undefined : countDaysLeft(expires_on, istDay(instant));
  const cards = await findCurrentCards(db, environment);
  const estimate = estimatePrice(cards.get(scheme), { side, amountPaise: amount_paise, daysLeft });
  const asked = {
    side,
    scheme,
    amount_paise,
    environment,
    ...(expires_on !== undefined && { expires_on, days_left: daysLeft }),
  };
  const told = { binding: false, as_of: istTimestamp(instant) };
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

/** What the holder of the reference may see. */
export function viewEnquiry(row: EnquiryRow): Enquiry {
  return {
    enquiry_ref: row.enquiry_ref,
    status: row.status,
    created_at: istTimestamp(row.created_at),
    updated_at: istTimestamp(row.updated_at),
    kept_until: istTimestamp(row.forget_at),
  };
}

/** Enquiries are recorded on the audit trail of the house's own desk. */
export function describeChange(
  action: "received" | "closed" | "forgotten",
  { before, after }: { before: EnquiryRow | null; after: EnquiryRow | null },
): Change {
  const row = after ?? before;
  if (!row) throw new Error("a change needs a row before or after");
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
    after: after && viewEnquiry(after),
    // Without personal data: operators are told that there is one, and read it in the console.
    event:
      action === "received"
        ? {
            name: "enquiry.received",
            from: null,
            to: row.status,
            data: { kind: row.kind, scheme: row.scheme, amount_paise: row.amount_paise },
          }
        : undefined,
  };
}

export function openPerson(row: EnquiryRow, { sealKey }: Pick<Context, "sealKey">): Person {
  const text = open(row.person_sealed, sealPurpose(row.enquiry_ref), sealKey);
  return JSON.parse(text) as Person; // What sealPerson was given.
}

/** The sealed column of this room, for a change of the master key. */
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
          const digest = keyedDigest({ kind, scheme, amount_paise, ...person }, ctx);
          return { id: row.id, before: row.sealed, sealed, digest };
        }),
      ),
  };
}

/** Bound to the enquiry: it does not open when moved to another row. */
function sealPerson(person: Person, ref: string, { sealKey }: Pick<Context, "sealKey">) {
  return seal(exactJson(person), sealPurpose(ref), sealKey);
}

function sealPurpose(enquiryRef: string): string {
  return `enquiry ${enquiryRef}`;
}

/** Recognises an equal enquiry. Keyed, so that a reader of the table cannot test guesses. */
function keyedDigest(enquiry: object, { sealKey }: Pick<Context, "sealKey">): Buffer {
  const key = keyFor("enquiries", sealingKey(sealKey));
  return createHmac("sha256", key).update(canonicalJson(enquiry)).digest();
}
