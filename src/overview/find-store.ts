// Statements that find one thing among everything, by its id or by a name that people have for it. They
// read the tables of every room, so that a search is a few round trips however many kinds there are.

import type { Environment } from "../kernel/caller.ts";
import { type Db, fragment, sql, type Tx } from "../platform/postgres/postgres.ts";

export type FoundRow = {
  readonly kind: string;
  readonly id: string;
  readonly environment: Environment | null;
  readonly status: string | null;
  /** What it says of itself: a number, an amount, a reference. */
  readonly note: string | null;
  readonly desk_id: string | null;
  readonly desk_name: string | null;
  readonly firm_id: string | null;
  readonly firm_name: string | null;
};

const named = fragment`
  found.kind, found.id, found.environment, found.status, found.note, found.desk_id,
  desks.legal_name as desk_name, found.firm_id, named.legal_name as firm_name`;
const firmAsFound = fragment`
  'firm' as kind, firm_id as id, environment, connection_state as status, iec as note, desk_id,
  firm_id`;
const kindOfSubject = fragment`
  case left(subject_id, 3)
    when 'frm' then 'firm'
    when 'crd' then 'credit'
    when 'crs' then 'cross'
    when 'pay' then 'payout'
    else 'settlement'
  end`;
const withNames = fragment`
  left join lateral (
    select legal_name from firms where firms.firm_id = found.desk_id limit 1
  ) as desks on true
  left join lateral (
    select legal_name from firms where firms.firm_id = found.firm_id limit 1
  ) as named on true`;

/** What has this id. Ids of two kinds never meet, as their prefixes differ. */
export async function findById(db: Db, id: string): Promise<FoundRow[]> {
  return await db.rows(sql`
    select ${named}
    from (
      select ${firmAsFound}
      from firms where firm_id = ${id}
      union all
      select 'key', key_id, environment, state, name, desk_id, firm_id
      from api_keys where key_id = ${id}
      union all
      select 'order', order_id, environment, state, side || ' ' || scheme, desk_id, firm_id
      from orders where order_id = ${id}
      union all
      select 'quote', quote_ref, environment, null, coalesce(order_id, side), desk_id, firm_id
      from quotes where quote_ref = ${id}
      union all
      select 'settlement', settlement_id, environment, state, origin, buyer_desk_id, buyer_firm_id
      from settlements where settlement_id = ${id}
      union all
      select 'payout', payout_id, environment, state, utr, desk_id, firm_id
      from payouts where payout_id = ${id}
      union all
      select 'firm', firm_id, environment, connection_state, iec, desk_id, firm_id
      from firms where firm_id = (
        select firm_id from confirmed_accounts where account_id = ${id}
      )
      union all
      select 'cross', cross_id, environment, state, kind, seller_desk_id, seller_firm_id
      from crosses where cross_id = ${id}
      union all
      select 'credit', credit_id, environment, state, scrip_no, desk_id, firm_id
      from credits where credit_id = ${id}
      union all
      select 'group', group_id, environment, null, name, desk_id, null
      from groups where group_id = ${id}
      union all
      select 'question', question_id, environment, state, kind || ' of ' || subject_id, desk_id, null
      from questions where question_id = ${id}
      union all
      select 'webhook', webhook_id, environment, state, event, desk_id, firm_id
      from webhooks where webhook_id = ${id}
      union all
      select 'delivery', delivery_id, environment, state, event, desk_id, null
      from deliveries where delivery_id = ${id}
      union all
      select 'approval', approval_id, environment, state, summary, null, null
      from approvals where approval_id = ${id}
      union all
      select 'payout_file', file_id, environment, state, rail, null, null
      from payout_files where file_id = ${id}
      union all
      select 'bank_line', line_id, environment, state, utr, null, firm_id
      from bank_lines where line_id = ${id}
      union all
      select 'enquiry', enquiry_ref, null, status, kind, null, null
      from enquiries where enquiry_ref = ${id}
      union all
      select 'cross_quote', cross_quote_ref, environment, null, coalesce(cross_id, kind), desk_id, firm_id
      from cross_quotes where cross_quote_ref = ${id}
      union all
      select 'netting', netting_ref, environment, null, group_id, desk_id, null
      from netting_runs where netting_ref = ${id}
      union all
      select 'requirement', requirement_id, environment, null, reference, desk_id, firm_id
      from requirements where requirement_id = ${id}
      union all
      select 'bank_statement', statement_id, environment, state, received_by, null, null
      from bank_statements where statement_id = ${id}
      union all
      select 'operator', operator_id, null,
        case when disabled_at is null then 'enabled' else 'disabled' end, name, null, null
      from operators where operator_id = ${id}
      union all
      select 'notice_address', address_id, environment,
        case when removed_at is null then 'enabled' else 'removed' end, email, desk_id, null
      from notice_addresses where address_id = ${id}
      union all
      select 'notice', notice_id, environment, state, subject, desk_id, null
      from notices where notice_id = ${id}
    ) as found
    ${withNames}`);
}

/**
 * The delivery of this id among those that were taken at the first attempt since a time. Their ids are
 * in blocks without an index, which would cost each of them more than all else that is written about
 * it: the blocks of these months are read.
 */
export async function findDelivered(db: Db, id: string, since: Date): Promise<FoundRow[]> {
  return await db.rows(sql`
    select ${named}
    from (
      select 'delivery' as kind, ${id}::text as id, environment, 'delivered' as status,
        webhook_id as note, desk_id, null::text as firm_id
      from delivered_blocks
      where delivered_at >= ${since}
        and position(decode(substr(${id}::text, 5), 'hex') in ids) % 13 = 1
      limit 1
    ) as found
    ${withNames}`);
}

/** Credits of a number: claims, live holdings and ended ones, each by the index of its standing. */
export async function findByScripNo(db: Db, scripNo: string, limit: number): Promise<FoundRow[]> {
  return await db.rows(sql`
    select ${named}
    from (
      (
        select 'credit' as kind, credit_id as id, environment, state as status,
          scrip_no as note, desk_id, firm_id
        from credits
        where environment in ('live', 'sandbox') and scrip_no = ${scripNo} and standing = 'live'
        limit ${limit}
      )
      union all
      (
        select 'credit', credit_id, environment, state, scrip_no, desk_id, firm_id
        from credits
        where environment in ('live', 'sandbox') and scrip_no = ${scripNo} and standing = 'claim'
        limit ${limit}
      )
      union all
      (
        select 'credit', credit_id, environment, state, scrip_no, desk_id, firm_id
        from credits
        where environment in ('live', 'sandbox') and scrip_no = ${scripNo} and standing is null
        limit ${limit}
      )
    ) as found
    ${withNames}
    limit ${limit}`);
}

/** What a bank or a document calls by this reference: a UTR, the line of a file, an invoice number. */
export async function findByReference(db: Db, text: string, limit: number): Promise<FoundRow[]> {
  return await db.rows(sql`
    select ${named}
    from (
      select 'payout' as kind, payout_id as id, environment, state as status, utr as note, desk_id,
        firm_id
      from payouts
      where environment in ('live', 'sandbox') and rail in ('RTGS', 'NEFT', 'IMPS')
        and lead_utr = ${text}
      union all
      select 'deposit', reference, environment, null, settlement_id, desk_id, firm_id
      from deposits where environment in ('live', 'sandbox') and reference = ${text}
      union all
      select 'bank_line', line_id, environment, state, utr, null, firm_id
      from bank_lines where utr = ${text}
      union all
      select 'bank_line', line_id, environment, state, back_utr, null, firm_id
      from bank_lines where environment in ('live', 'sandbox') and back_utr = ${text}
      union all
      select 'payout', lead_id, null, state, reference, null, firm_id
      from payout_file_lines where reference = ${text}
      union all
      select 'settlement', settlement_id, environment, null, invoice_no, null, firm_id
      from fee_invoices where environment in ('live', 'sandbox') and invoice_no = ${text}
    ) as found
    ${withNames}
    limit ${limit}`);
}

/**
 * The things that were answered or decided about by this evidence: a ticket, a letter, a mandate, what
 * the portal gave for a transfer, what a buyer gave for its payment. As people wrote it, in any case of
 * letters.
 */
export async function findByEvidence(db: Db, text: string, limit: number): Promise<FoundRow[]> {
  return await db.rows(sql`
    select ${named}
    from (
      select ${kindOfSubject} as kind, split_part(subject_id, ':', 1) as id, environment,
        null as status, reference as note, desk_id,
        case when subject_id like 'frm%' then subject_id end as firm_id
      from questions
      where state = 'answered' and upper(reference) = upper(${text})
      union
      select 'approval', approval_id, environment, state, terms ->> 'reference', null, null
      from approvals where terms ? 'reference' and upper(terms ->> 'reference') = upper(${text})
      union
      select 'firm', firm_id, environment, connection_state, mandate ->> 'reference', desk_id,
        firm_id
      from firms where mandate is not null and upper(mandate ->> 'reference') = upper(${text})
      union
      select 'settlement', settlement_id, environment, null, initiate_reference, seller_desk_id,
        seller_firm_id
      from settlement_legs
      where initiate_reference is not null and upper(initiate_reference) = upper(${text})
      union
      select 'settlement', settlement_id, environment, null, accept_reference, seller_desk_id,
        seller_firm_id
      from settlement_legs
      where accept_reference is not null and upper(accept_reference) = upper(${text})
      union
      select 'settlement', settlement_id, environment, state, pay_reference, buyer_desk_id,
        buyer_firm_id
      from settlements
      where pay_reference is not null and upper(pay_reference) = upper(${text})
      union
      select 'cross', cross_id, environment, state, payment_ref, buyer_desk_id, buyer_firm_id
      from crosses
      where payment_ref is not null and upper(payment_ref) = upper(${text})
      limit ${limit}
    ) as found
    ${withNames}`);
}

export type EvidenceRow = {
  readonly id: string;
  readonly kind: string;
  readonly status: string;
  readonly at: Date;
  readonly reference: string | null;
  readonly said_by: string;
  /** Who approved it, where it took two people. */
  readonly approved_by: string | null;
};

/** What was said about a thing, the newest first. An answer that took two was given by its proposer. */
export async function listEvidenceRows(
  db: Db,
  about: string,
  limit: number,
): Promise<EvidenceRow[]> {
  return await db.rows(sql`
    select id, kind, status, at, reference, said_by, approved_by
    from (
      select question_id as id, questions.kind, 'answered' as status, as_of as at, reference,
        coalesce(proposed_by, answered_by) as said_by, decided_by as approved_by
      from questions
      left join lateral (
        select proposed_by, decided_by
        from approvals
        where approvals.subject_id = question_id and approvals.state = 'approved'
        limit 1
      ) as approved on true
      where questions.state = 'answered' and split_part(questions.subject_id, ':', 1) = ${about}
      union all
      select approval_id, kind, state, coalesce(decided_at, proposed_at),
        coalesce(terms ->> 'reference', terms ->> 'reason'), proposed_by, decided_by
      from approvals where subject_id = ${about}
      union all
      select line_id, 'bank_line', state, decided_at, coalesce(utr, reason), decided_by, null
      from bank_lines
      where decided_by is not null and deal_id = ${about}
      union all
      select line_id, 'bank_line', state, decided_at, coalesce(utr, reason), decided_by, null
      from bank_lines
      where decided_by is not null and firm_id = ${about} and deal_id is null
    ) as said
    order by at desc, id desc
    limit ${limit}`);
}

/** Firms of an IEC or a PAN, on every desk. */
export async function findByIdentifier(db: Db, text: string, limit: number): Promise<FoundRow[]> {
  return await db.rows(sql`
    select ${named}
    from (
      select ${firmAsFound}
      from firms
      where firm_id = any(array(
        (select firm_id from firms where iec = ${text} limit ${limit})
        union
        (select firm_id from firms where pan = ${text} limit ${limit})
      ))
    ) as found
    ${withNames}
    limit ${limit}`);
}

/** Firms whose name begins so. */
export async function findByNameStart(db: Db, pattern: string, limit: number): Promise<FoundRow[]> {
  return await db.rows(sql`
    select ${named}
    from (
      select ${firmAsFound}
      from firms
      where lower(legal_name) like ${pattern}
      limit ${limit}
    ) as found
    ${withNames}`);
}

const nameWords = fragment`
  to_tsvector('simple', translate(legal_name, './-&,()_@:''"', '            '))`;

/** Of the newest firms, those with words in their name that are or begin so. */
export async function findNewestByWords(
  db: Db,
  words: string,
  { among, limit }: { readonly among: number; readonly limit: number },
): Promise<FoundRow[]> {
  return await db.rows(sql`
    select ${named}
    from (
      select ${firmAsFound}
      from (
        select firm_id, environment, connection_state, iec, desk_id, legal_name
        from firms
        order by created_at desc, firm_id desc
        limit ${among}
      ) as newest
      where ${nameWords} @@ to_tsquery('simple', ${words})
      limit ${limit}
    ) as found
    ${withNames}`);
}

/**
 * For searches of one word, which many names may have: of more than so many a random part is looked
 * at. It would thin out each of several words before they meet.
 */
const looseLimit = "500";

export async function loosenSearch(tx: Tx): Promise<void> {
  await tx.rows(sql`select set_config('gin_fuzzy_search_limit', ${looseLimit}, true)`);
}

/** Firms with words in their name that are or begin so. */
export async function findByNameWords(db: Db, words: string, limit: number): Promise<FoundRow[]> {
  return await db.rows(sql`
    select ${named}
    from (
      select ${firmAsFound}
      from firms
      where ${nameWords} @@ to_tsquery('simple', ${words})
      limit ${limit}
    ) as found
    ${withNames}`);
}
