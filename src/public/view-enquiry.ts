import type { Change } from "../kernel/actor.ts";
import { houseFirmId } from "../kernel/house.ts";
import { istTimestamp } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { open, seal } from "../platform/seal.ts";
import type { Person } from "./rules.ts";
import type { Enquiry } from "./schema.ts";
import type { EnquiryRow } from "./store.ts";

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
export function sealPerson(person: Person, ref: string, { sealKey }: Pick<Context, "sealKey">) {
  return seal(JSON.stringify(person), sealPurpose(ref), sealKey);
}

export function openPerson(row: EnquiryRow, { sealKey }: Pick<Context, "sealKey">): Person {
  const text = open(row.person_sealed, sealPurpose(row.enquiry_ref), sealKey);
  return JSON.parse(text) as Person; // What sealPerson was given.
}

export function sealPurpose(enquiryRef: string): string {
  return `enquiry ${enquiryRef}`;
}
