import type { Context } from "../platform/context.ts";
import { noEnquiry } from "./read-enquiry.ts";
import type { EnquiryStatus, Person } from "./rules.ts";
import type { Enquiry } from "./schema.ts";
import { type EnquiryRow, findEnquiry, listEnquiries as listRows } from "./store.ts";
import { openPerson, viewEnquiry } from "./view-enquiry.ts";

/** An enquiry as the operator reads it, who sent it included. */
export type OpenedEnquiry = Enquiry &
  Person &
  Pick<EnquiryRow, "kind" | "scheme" | "amount_paise" | "outcome">;

export async function listEnquiries(
  ctx: Context,
  filter: { readonly status: EnquiryStatus | null; readonly limit: number },
): Promise<OpenedEnquiry[]> {
  const rows = await listRows(ctx.db, filter);
  return rows.map((row) => openedEnquiry(row, ctx));
}

export async function showEnquiry(ctx: Context, enquiryRef: string): Promise<OpenedEnquiry> {
  const row = await findEnquiry(ctx.db, enquiryRef);
  if (!row) throw noEnquiry();
  return openedEnquiry(row, ctx);
}

function openedEnquiry(row: EnquiryRow, ctx: Context): OpenedEnquiry {
  const { kind, scheme, amount_paise, outcome } = row;
  return { ...viewEnquiry(row), kind, scheme, amount_paise, ...openPerson(row, ctx), outcome };
}
