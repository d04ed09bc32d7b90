// Reads the audit trail and the keys that signed it. The signing key is derived from the master key and
// changes with it. A succession is signed by the old and the new key: a reader that trusts the key in
// force can trust the earlier ones, and write access to the database is not enough to add a key.

import { type KeyObject, sign } from "node:crypto";

import type { Static, TObject } from "typebox";

import type { Caller, Environment } from "../kernel/caller.ts";
import { houseFirmId } from "../kernel/ids.ts";
import { type Leaf, type Page, type PageQuery, readLeaf, readPage } from "../kernel/page.ts";
import { parseQueryInstant } from "../kernel/query-time.ts";
import { istTimestamp } from "../kernel/time.ts";
import { refuseSubAccount, visibleTo } from "../kernel/visibility.ts";
import type { Context } from "../platform/context.ts";
import type { Db } from "../platform/postgres/postgres.ts";
import { readAtReplica } from "../platform/postgres/replica.ts";
import { deskPages } from "../platform/sheets/list-file.ts";
import { isSigned, publicKeyHex } from "./audit-rules.ts";
import { findHead, insertSuccession, listSuccessions } from "./audit-store.ts";
import type { TrailFilter } from "./block-store.ts";
import { countTrail, listTrail, type TrailRow } from "./find-records.ts";
import { AuditEntry, auditFilters, type AuditKeys } from "./schema.ts";

/** Who changed what on the caller's desk, newest first. */
export const auditOfDesk = deskPages({
  name: "audit",
  query: auditFilters,
  of: AuditEntry,
  order: "Newest first.",
  listTitle: "AuditList",
  read: (ctx, caller, query) => readAtReplica(ctx, (reading) => readAudit(reading, caller, query)),
});

type AuditQuery = Static<TObject<typeof auditFilters>> & PageQuery;

async function readAudit(
  ctx: Pick<Context, "db" | "cursorKey">,
  caller: Caller,
  query: AuditQuery,
): Promise<Page<AuditEntry>> {
  refuseSubAccount(visibleTo(caller), "read the audit trail");
  const { limit: _limit, cursor: _cursor, ...filters } = query;
  const { environment, deskId } = caller;
  const desk = { environment, desk_id: deskId };
  const question = { list: "audit", desk: deskId, ...filters };
  const filter = toFilter(query);
  const { planned } = ctx.db;
  // A chain has no gap: unfiltered, its last number is how many there are.
  const count = async () =>
    Object.values(filters).every((value) => value === undefined)
      ? (await findHead(ctx.db, desk)).seq
      : await countTrail(planned, desk, filter);
  const page = await readPage(
    { query, question, signingKey: ctx.cursorKey },
    {
      list: ({ after, fetch }) => {
        const before = after ? Number(after.id) : null;
        return listTrail(planned, desk, filter, { before, fetch });
      },
      count,
      toPosition: ({ seq }) => ({ at: new Date(0), id: String(seq) }),
    },
  );
  return { ...page, rows: page.rows.map(viewRecord) };
}

/** Who changed what on a desk, or of the house, newest first, for the operator. */
export async function listAnyAudit(
  ctx: Pick<Context, "db" | "cursorKey">,
  search: AuditQuery & { readonly environment: Environment; readonly desk_id?: string },
): Promise<Leaf<AuditEntry>> {
  const { environment, desk_id = houseFirmId[environment] } = search;
  const page = await readLeaf<TrailRow>(ctx, ["audit", "seq", "at"], search, ({ after, fetch }) =>
    listTrail(ctx.db.planned, { environment, desk_id }, toFilter(search), {
      before: after ? Number(after.id) : null,
      fetch,
    }),
  );
  return { ...page, rows: page.rows.map(viewRecord) };
}

/** The key in force first, then the keys of earlier master keys. */
export async function listAuditKeys(ctx: Pick<Context, "db" | "auditKey">): Promise<AuditKeys> {
  const keys = await findTrustedKeys(ctx.db, ctx);
  return { keys: keys.map((public_key) => ({ algorithm: "Ed25519", public_key })) };
}

/** Stored once for each pair of keys. */
export async function recordSuccession(
  db: Db,
  { former, next }: { readonly former: KeyObject; readonly next: KeyObject },
  now: Date,
): Promise<void> {
  const [former_key, public_key] = [publicKeyHex(former), publicKeyHex(next)];
  const text = Buffer.from(successionText(former_key, public_key));
  const [signed_by_former, signed_by_new] = [former, next].map((key) =>
    sign(null, text, key).toString("hex"),
  );
  const row = {
    former_key,
    public_key,
    signed_by_former: signed_by_former ?? "",
    signed_by_new: signed_by_new ?? "",
  };
  await insertSuccession(db, row, now);
}

/** The public key in force and its proven predecessors, the latest first. */
export async function findTrustedKeys(
  db: Db,
  { auditKey }: Pick<Context, "auditKey">,
): Promise<readonly string[]> {
  const known = [publicKeyHex(auditKey)];
  const rows = await listSuccessions(db);
  for (let at = 0; at < known.length; at++) {
    const later = known[at] ?? "";
    for (const row of rows) {
      if (row.public_key !== later || known.includes(row.former_key)) continue;
      const text = successionText(row.former_key, row.public_key);
      const isProven =
        isSigned(text, row.public_key, row.signed_by_new) &&
        isSigned(text, row.former_key, row.signed_by_former);
      if (isProven) known.push(row.former_key);
    }
  }
  return known;
}

function toFilter(query: AuditQuery): TrailFilter {
  return {
    entityType: query.entity_type ?? null,
    entityId: query.entity_id ?? null,
    actor: query.actor ?? null,
    action: query.action ?? null,
    from: parseQueryInstant("from", query.from),
    to: parseQueryInstant("to", query.to),
  };
}

function viewRecord({ at, desk_id: _desk, ...row }: TrailRow): AuditEntry {
  return { ...row, at: istTimestamp(at) };
}

function successionText(former: string, next: string): string {
  return `scripdesk audit key ${former} is followed by ${next}`;
}
