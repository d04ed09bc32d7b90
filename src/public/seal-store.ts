// What of this slice is sealed, for whoever changes the master key.

import type { Scheme } from "../kernel/scheme.ts";
import { type Db, sql } from "../platform/postgres.ts";
import type { EnquiryKind } from "./rules.ts";

export type SealedEnquiry = {
  readonly id: string;
  readonly sealed: Buffer;
  readonly kind: EnquiryKind;
  readonly scheme: Scheme | null;
  readonly amount_paise: number | null;
};

/** Who sent enquiries, in the order of their references. */
export async function listSealedPersons(
  db: Db,
  after: string,
  limit: number,
): Promise<SealedEnquiry[]> {
  return await db.rows(sql`
    select enquiry_ref as id, person_sealed as sealed, kind, scheme, amount_paise
    from enquiries
    where enquiry_ref > ${after}
    order by enquiry_ref
    limit ${limit}`);
}

/** Only where it is still sealed as it was; the keyed digest is made with the same key. */
export async function setSealedPersons(
  db: Db,
  rows: readonly {
    readonly id: string;
    readonly before: Buffer;
    readonly sealed: Buffer;
    readonly digest: Buffer;
  }[],
): Promise<void> {
  await db.rows(sql`
    update enquiries as t
    set person_sealed = n.after, digest = n.digest
    from unnest(
      ${rows.map(({ id }) => id)}::text[],
      ${rows.map(({ before }) => before)}::bytea[],
      ${rows.map(({ sealed }) => sealed)}::bytea[],
      ${rows.map(({ digest }) => digest)}::bytea[]
    ) as n (id, before, after, digest)
    where t.enquiry_ref = n.id and t.person_sealed = n.before`);
}
