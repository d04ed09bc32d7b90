import { Failure } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import type { Context } from "../platform/context.ts";
import type { Enquiry } from "./schema.ts";
import { findEnquiry } from "./store.ts";
import { viewEnquiry } from "./view-enquiry.ts";

export async function readEnquiry({ db }: Context, enquiryRef: string): Promise<Enquiry> {
  const row = isId("enq", enquiryRef) ? await findEnquiry(db, enquiryRef) : undefined;
  if (!row) throw noEnquiry();
  return viewEnquiry(row);
}

export function noEnquiry(): Failure {
  return new Failure("not_found", "no such enquiry; it may have been deleted after its time");
}
