import { recordChanges } from "../journal/record-changes.ts";
import type { Actor } from "../kernel/actor.ts";
import { Failure } from "../kernel/failure.ts";
import { isId } from "../kernel/ids.ts";
import { advance } from "../kernel/lifecycle.ts";
import type { TimeSpan } from "../kernel/query-time.ts";
import type { Context } from "../platform/context.ts";
import { describeChange, openPerson, viewEnquiry } from "./enquiries.ts";
import {
  computeRetentionEnd,
  enquiryLifecycle,
  type EnquiryStatus,
  type Person,
} from "./public-rules.ts";
import type { Enquiry } from "./public-schema.ts";
import {
  deleteExpired,
  type EnquiryRow,
  findEnquiry,
  listEnquiries as listRows,
  lockEnquiry,
  setEnquiry,
} from "./public-store.ts";

/** An enquiry as the operator reads it, with its personal data. */
type OpenedEnquiry = Enquiry &
  Person &
  Pick<EnquiryRow, "kind" | "scheme" | "amount_paise" | "outcome">;

export async function listEnquiries(
  ctx: Context,
  {
    from = null,
    to = null,
    before,
    ...filter
  }: Partial<TimeSpan> & {
    readonly status: EnquiryStatus | null;
    /** Only those made before this one. */
    readonly before?: string | undefined;
    readonly limit: number;
  },
): Promise<OpenedEnquiry[]> {
  const narrowed = { ...filter, from, to, before: before ?? null };
  const rows = await listRows(ctx.db.planned, narrowed);
  return rows.map((row) => openEnquiry(row, ctx));
}

export async function showEnquiry(ctx: Context, enquiryRef: string): Promise<OpenedEnquiry> {
  const row = await findEnquiry(ctx.db, enquiryRef);
  if (!row) throw enquiryNotFound();
  return openEnquiry(row, ctx);
}

export async function readEnquiry({ db }: Context, enquiryRef: string): Promise<Enquiry> {
  const row = isId("enq", enquiryRef) ? await findEnquiry(db, enquiryRef) : undefined;
  if (!row) throw enquiryNotFound();
  return viewEnquiry(row);
}

export async function closeEnquiry(
  ctx: Context,
  actor: Actor,
  { enquiryRef, outcome }: { readonly enquiryRef: string; readonly outcome: string },
): Promise<Enquiry> {
  const now = ctx.now();
  return await ctx.db.transaction(async (tx) => {
    const [before] = await lockEnquiry(tx, [enquiryRef]);
    if (!before) throw enquiryNotFound();
    const status = advance(enquiryLifecycle, before.status, "close");
    const forget_at = computeRetentionEnd(before.created_at, now);
    const after = await setEnquiry(
      tx,
      { enquiry_ref: enquiryRef, status, outcome, forget_at },
      now,
    );
    if (!after) throw new Error(`the locked enquiry ${enquiryRef} is gone`);
    await recordChanges(tx, actor, [describeChange("closed", { before, after })], now);
    return viewEnquiry(after);
  });
}

const setSizeMax = 500;
const retention: Actor = { kind: "worker", id: "retention", requestId: null };

/** Deletes expired enquiries with their personal data. The audit trail keeps their references. */
export async function deleteExpiredEnquiries({ db, now }: Context): Promise<"more" | "idle"> {
  const instant = now();
  return await db.transaction(async (tx) => {
    const gone = await deleteExpired(tx, instant, setSizeMax);
    const changes = gone.map((before) => describeChange("forgotten", { before, after: null }));
    await recordChanges(tx, retention, changes, instant);
    return gone.length === setSizeMax ? "more" : "idle";
  });
}

function openEnquiry(row: EnquiryRow, ctx: Context): OpenedEnquiry {
  const { kind, scheme, amount_paise, outcome } = row;
  return { ...viewEnquiry(row), kind, scheme, amount_paise, ...openPerson(row, ctx), outcome };
}

function enquiryNotFound(): Failure {
  return new Failure("not_found", "no such enquiry; it may have been deleted after its time");
}
