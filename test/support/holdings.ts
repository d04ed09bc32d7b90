// Client firms and credits in any state, put where the slices that own them would put them.

import { newId } from "../../src/kernel/ids.ts";
import type { Scheme } from "../../src/kernel/scheme.ts";
import { type ClientFirm, clientFirm } from "./firms.ts";
import type { Service } from "./service.ts";
import { askJournal } from "./journal.ts";

/** A client firm of a desk. */
export async function addFirm(
  service: Pick<Service, "ctx">,
  { deskId, ...firm }: ClientFirm & { readonly deskId: string },
): Promise<string> {
  return (await clientFirm(service, deskId, { legalName: "Client firm", ...firm })).firmId;
}

export type TestCredit = {
  readonly firmId: string;
  readonly scheme: Scheme;
  readonly facePaise: number;
  readonly expiresOn: string;
  readonly state: string;
  /** One that nobody else has unless a number is given. */
  readonly scripNo?: string;
};

/** Credits in any state, as a test needs them, and their numbers. */
export async function addCredits(
  { ctx }: Pick<Service, "ctx">,
  deskId: string,
  credits: readonly TestCredit[],
): Promise<string[]> {
  const now = ctx.now();
  const ids = credits.map(() => newId("crd", now));
  const scripNos = credits.map(({ scripNo }, at) => scripNo ?? ids[at]?.slice(6).toUpperCase());
  const isHeldByDeal = ({ state }: TestCredit) => ["reserved", "in_settlement"].includes(state);
  await ctx.db.pool.query(
    `insert into credits (
      credit_id, environment, desk_id, firm_id, scrip_no, scheme, issued_paise, face_paise,
      issued_on, expires_on, expiry_due_on, state, state_before_suspension, reserved_for, as_of,
      version, created_at, updated_at
    )
    select c.credit_id, f.environment, f.desk_id, f.firm_id, c.scrip_no, c.scheme,
      c.face, case when c.state = 'used' then 0 else c.face end, c.expires_on - 400, c.expires_on, c.expires_on, c.state,
      case when c.state = 'suspended' then 'listed' end, c.reserved_for, $8, 1, $8, $8
    from unnest(
      $2::text[], $3::text[], $4::text[], $5::bigint[], $6::date[], $7::text[], $9::text[],
      $10::text[]
    ) as c (credit_id, firm_id, scheme, face, expires_on, state, reserved_for, scrip_no)
    join firms as f on f.firm_id = c.firm_id and f.desk_id = $1`,
    [
      deskId,
      ids,
      credits.map(({ firmId }) => firmId),
      credits.map(({ scheme }) => scheme),
      credits.map(({ facePaise }) => facePaise),
      credits.map(({ expiresOn }) => expiresOn),
      credits.map(({ state }) => state),
      now,
      credits.map((credit) => (isHeldByDeal(credit) ? "ord_test" : null)),
      scripNos,
    ],
  );
  return scripNos.filter((scripNo) => scripNo !== undefined);
}

export type AuditRecord = {
  readonly actor_kind: string;
  readonly actor_id: string;
  readonly request_id: string | null;
  readonly action: string;
  readonly entity_type: string;
  readonly entity_id: string;
  readonly entity_version: number;
  readonly before_hash: string | null;
  readonly after_hash: string | null;
};

/** What requests and workers changed on a desk, oldest first; how the operator opened it is left out. */
export async function listAuditRecords(
  { ctx }: Pick<Service, "ctx">,
  deskId: string,
): Promise<AuditRecord[]> {
  const { rows } = await askJournal<AuditRecord>(
    ctx.db.pool,
    `select actor_kind, actor_id, request_id, action, entity_type, entity_id, entity_version,
      before_hash, after_hash
    from audit_records
    where desk_id = $1 and (actor_kind <> 'operator' or request_id is not null)
    order by seq`,
    [deskId],
  );
  return rows;
}
