// Turns events into notices, as `webhooks/fan-out.ts` turns them into deliveries:
//
//   journal          the desk's log; its sequence has no gap and becomes visible in order
//   notice_cursors   every event up to it was looked at; only desks with an address have one
//   notices          inserted in the transaction that moves the cursor past their events
//
// Nothing is read or written while orders are placed. The events of one occasion that are read together
// become one notice for each address, so that a thousand credits that expire on one day are a few mails.

import { type FoundEvent, listEventsOfDesks } from "../journal/find-events.ts";
import { houseFirmId, newId } from "../kernel/ids.ts";
import { listOperators, type OperatorView } from "../operators/manage-operators.ts";
import type { Context } from "../platform/context.ts";
import { noOffenders, type Offenders, workInParts } from "../platform/postgres/offenders.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { type AddressRow, listAddressesOfDesks, listNames } from "./address-store.ts";
import { describeEvent, listNamedFirms, readToldEvent, type ToldEvent } from "./rules.ts";
import {
  ageMaxMs,
  concernsContact,
  concernsPerson,
  deskOccasions,
  findOccasion,
  normalizeEmail,
  type Occasion,
  personOccasions,
} from "./rules.ts";
import {
  claimCursors,
  type CursorRow,
  findCursorsBehind,
  insertNotices,
  type NoticeRow,
  setCursors,
} from "./store.ts";
import { renderTemplate } from "./template-rules.ts";
import type { Templates } from "./templates.ts";

/** Announced when there are new notices to send. */
export const noticesTopic = "notices";

const cursorsPerLook = 500;
const desksMax = 20;
const eventsPerDeskMax = 500;

/** Each run looks at the next desks that have addresses, and queues notices of those that are behind. */
export function createNoticeQueue(
  ctx: Pick<Context, "db" | "now">,
  templates: Templates,
  offenders: Offenders = noOffenders(),
): () => Promise<"more" | "idle"> {
  let after = "";
  return async () => {
    const look = { after, look: cursorsPerLook, not: offenders.ids() };
    const { behind, next } = await findCursorsBehind(ctx.db, look);
    const some = behind.slice(0, desksMax);
    // Desks that were left over come with the next run.
    after = (behind.length > some.length ? some.at(-1) : next) ?? "";
    const done = some.length > 0 ? await queueDesks(ctx, { templates, some }, offenders) : 0;
    return done > 0 || after !== "" ? "more" : "idle";
  };
}

async function queueDesks(
  ctx: Pick<Context, "db" | "now">,
  { templates, some }: { readonly templates: Templates; readonly some: readonly string[] },
  offenders: Offenders,
): Promise<number> {
  const now = ctx.now();
  return await workInParts(offenders, ({ only }, claimed) => {
    const deskIds = only ?? some;
    claimed(deskIds);
    return ctx.db.transaction(async (tx) => {
      const cursors = await claimCursors(tx, deskIds);
      if (cursors.length === 0) return 0; // Another process has claimed them.
      const found = await listEventsOfDesks(
        tx,
        cursors.map(({ desk_id, told_sequence }) => ({ deskId: desk_id, after: told_sequence })),
        eventsPerDeskMax,
      );
      const drafts = await draftNotices(tx, { cursors, found, templates, now });
      if (drafts.length > 0) {
        await insertNotices(tx, drafts);
        tx.announce(noticesTopic);
      }
      await setCursors(tx, moveCursors(cursors, found));
      return cursors.length;
    });
  });
}

function moveCursors(cursors: readonly CursorRow[], found: readonly FoundEvent[]): CursorRow[] {
  return cursors.map(({ desk_id, told_sequence }) => ({
    desk_id,
    told_sequence: found.reduce(
      (last, event) => (event.desk_id === desk_id ? Math.max(last, event.sequence) : last),
      told_sequence,
    ),
  }));
}

async function draftNotices(
  tx: Tx,
  {
    cursors,
    found,
    templates,
    now,
  }: {
    readonly cursors: readonly CursorRow[];
    readonly found: readonly FoundEvent[];
    readonly templates: Templates;
    readonly now: Date;
  },
): Promise<NoticeRow[]> {
  const oldest = new Date(now.getTime() - ageMaxMs);
  const told = found.flatMap(({ desk_id, event, body }) => {
    const read = findOccasion(event) && readToldEvent(body, findOccasion);
    return read && read.createdAt >= oldest ? [{ ...read, deskId: desk_id }] : [];
  });
  if (told.length === 0) return [];
  const deskIds = cursors.map(({ desk_id }) => desk_id);
  const addresses = await listAddressesOfDesks(tx, deskIds);
  const people = deskIds.includes(houseFirmId.live) ? await listOperators({ db: tx }) : [];
  const firmIds = new Set([...deskIds, ...told.flatMap(listNamedFirms)]);
  const firms = new Map((await listNames(tx, [...firmIds])).map((firm) => [firm.firm_id, firm]));
  const nameFirm = (firmId: string) => firms.get(firmId)?.legal_name ?? firmId;
  return addresses.flatMap((address) => {
    const person = people.find(({ operator_id }) => operator_id === address.operator_id);
    const contact = firms.get(address.firm_id ?? "")?.email ?? "";
    const isPresent = normalizeEmail(contact) === address.email;
    const own = told.filter((event) => isFor({ address, person, isPresent }, event));
    return [...Map.groupBy(own, ({ occasion }) => occasion)].map(([occasion, events]) =>
      draftNotice({ address, occasion, events }, { templates, nameFirm, now }),
    );
  });
}

function isFor(
  {
    address,
    person,
    isPresent,
  }: {
    readonly address: AddressRow;
    readonly person: OperatorView | undefined;
    /** Whether it is the contact of its firm now. */
    readonly isPresent: boolean;
  },
  event: ToldEvent & { readonly deskId: string },
): boolean {
  const { occasion, deskId, sequence, data } = event;
  if (deskId !== address.desk_id || sequence <= address.after_sequence) return false;
  if (address.opted_out.includes(occasion)) return false;
  if (address.firm_id !== null) {
    const { firm_id: firmId, updated_at: lastContactAt } = address;
    return concernsContact({ firmId, lastContactAt, isPresent }, event);
  }
  const known: readonly Occasion[] = address.operator_id === null ? deskOccasions : personOccasions;
  if (!known.includes(occasion)) return false;
  if (address.operator_id === null) return true;
  return person !== undefined && concernsPerson(person, occasion, data);
}

function draftNotice(
  {
    address,
    occasion,
    events,
  }: {
    readonly address: AddressRow;
    readonly occasion: Occasion;
    readonly events: readonly ToldEvent[];
  },
  {
    templates,
    nameFirm,
    now,
  }: {
    readonly templates: Templates;
    readonly nameFirm: (firmId: string) => string;
    readonly now: Date;
  },
): NoticeRow {
  const template = templates.byOccasion.get(occasion);
  const [first, last] = [events[0], events.at(-1)];
  if (!template || !first || !last) throw new Error(`a notice of ${occasion} has a template`);
  const more = events.length > 1 ? ` and ${events.length - 1} more` : "";
  const { subject, body } = renderTemplate(template, {
    shared: { desk: nameFirm(address.desk_id), more },
    items: events.map((event) => describeEvent(event, nameFirm)),
  });
  const isSandbox = address.environment === "sandbox";
  return {
    notice_id: newId("ntc", now),
    address_id: address.address_id,
    environment: address.environment,
    desk_id: address.desk_id,
    occasion,
    first_sequence: first.sequence,
    last_sequence: last.sequence,
    events: events.length,
    subject: isSandbox ? `[Sandbox] ${subject}` : subject,
    body: isSandbox ? `${templates.sandbox}${body}` : body,
    state: "waiting",
    reason: null,
    answer: null,
    attempts: 0,
    lease: 0,
    due_at: now,
    queued_at: now,
    version: 1,
    created_at: now,
    updated_at: now,
  };
}
