// Sends due notices, at least once, each under a Message-ID of its own that stays the same:
//
//   claim    lease due notices: live first, the desks in turn, some of each
//   send     one session with the mail server, one mail after the other, no faster than `perMinute`
//   settle   after each mail, so that a crash sends at most one mail again
//
// No transaction is open while the mail server is spoken to, and a slow server delays nothing but
// notices. A server that cannot be used is nobody's fault: nothing counts as an attempt, what was claimed
// is given back, and all notices wait for a while that doubles up to five minutes. A mail that is refused
// for good, too often or for too long is dead, and an operator can send it again.

import { setTimeout as sleep } from "node:timers/promises";

import type { Environment } from "../kernel/caller.ts";
import { listOperators, type OperatorView } from "../operators/manage-operators.ts";
import type { Context } from "../platform/context.ts";
import {
  type MailResult,
  type MailServer,
  MailServerDown,
  mailDeadlineMs,
  type MailSession,
} from "../platform/smtp.ts";
import { type AddressRow, findAddress } from "./address-store.ts";
import { buildOptOutLink } from "./opt-out.ts";
import { ageMaxMs, computePauseMs, occasionWords, settleAttempt } from "./rules.ts";
import {
  claimNotices,
  type ClaimedNotice,
  deleteOld,
  hasDue,
  listDesksWaiting,
  releaseNotices,
  settleNotices,
} from "./store.ts";
import { fill } from "./template-rules.ts";
import type { Templates } from "./templates.ts";

export type NoticeOptions = {
  readonly server: MailServer;
  readonly templates: Templates;
  /** What mail is sent from. */
  readonly from: { readonly name: string; readonly address: string };
  /** Where the public listener is reached, without a slash at the end. */
  readonly publicUrl: string;
  readonly perMinute: number;
  /** Aborted when the service stops: no more is claimed, and a mail under way is soon cut off. */
  readonly stop?: AbortSignal | undefined;
  /** Called with what became of each attempt. */
  readonly onResult?: ((result: string) => void) | undefined;
};

type Sender = {
  /** Starts to send what is due, without waiting for the mail server. */
  readonly work: () => Promise<"more" | "idle">;
  /** Lets the mail under way finish and gives back the rest. */
  readonly settled: () => Promise<void>;
};

const batchMax = 20;
const perDeskMax = 5;
const desksPerLook = 500;
const lookMs = 250;
/** How long a mail under way may still take when the service stops. */
const stopMs = 1_000;
/** Longer than a session and the last mail of a batch may take. */
const leaseMs = 5 * 60_000;

type Batch = { readonly done: Promise<void>; isStopping: boolean };

export function createNoticeSender(ctx: Context, options: NoticeOptions): Sender {
  /** The desk that was served last, of each environment. */
  const served: Record<Environment, string> = { live: "", sandbox: "" };
  let batch: Batch | undefined;
  let failures = 0;
  let pausedUntil = 0;
  const cut = new AbortController();
  options.stop?.addEventListener("abort", () => {
    if (batch) batch.isStopping = true;
    setTimeout(() => cut.abort(), stopMs).unref();
  });

  async function claim(): Promise<ClaimedNotice[]> {
    for (const environment of ["live", "sandbox"] as const) {
      const claimed = await claimInTurn(ctx, environment, served);
      if (claimed.length > 0) return claimed;
    }
    return [];
  }

  function begin(claimed: readonly ClaimedNotice[]): void {
    const started: Batch = { done: Promise.resolve(), isStopping: false };
    const onServed = ({ environment, desk_id }: ClaimedNotice) => (served[environment] = desk_id);
    const isStopping = () => started.isStopping;
    const done = sendBatch(ctx, options, { claimed, isStopping, onServed, cut: cut.signal })
      .then(() => (failures = 0))
      .catch((error: unknown) => {
        if (!(error instanceof MailServerDown)) {
          ctx.log.error({ err: error }, "notices were not settled");
          return;
        }
        failures += 1;
        const pauseMs = computePauseMs(failures);
        pausedUntil = ctx.now().getTime() + pauseMs;
        ctx.log.warn(
          { reason: error.reason, pause_ms: pauseMs },
          "notices wait for the mail server",
        );
        options.onResult?.("unreachable");
      })
      .then(() => (batch = undefined));
    batch = Object.assign(started, { done: done.then(() => {}) });
  }

  return {
    async work() {
      if (batch) {
        await Promise.race([batch.done, sleep(lookMs, undefined, { ref: false })]);
        return "more";
      }
      if (options.stop?.aborted || ctx.now().getTime() < pausedUntil) return "idle";
      const claimed = await claim();
      if (claimed.length === 0) return "idle";
      begin(claimed);
      return "more";
    },
    async settled() {
      if (!batch) return;
      batch.isStopping = true;
      await batch.done;
    },
  };
}

/** Claims from the desks after the one that was served last, and then from the first ones. */
async function claimInTurn(
  { db, now: readClock }: Pick<Context, "db" | "now">,
  environment: Environment,
  served: Record<Environment, string>,
): Promise<ClaimedNotice[]> {
  const now = readClock();
  if (!(await hasDue(db, environment, now))) return [];
  const leaseEndsAt = new Date(now.getTime() + leaseMs);
  const share = { environment, perDesk: perDeskMax, limit: batchMax, now, leaseEndsAt };
  for (const start of new Set([served[environment], ""])) {
    let after = start;
    do {
      const deskIds = await listDesksWaiting(db, { environment, after, limit: desksPerLook });
      const claimed = deskIds.length > 0 ? await claimNotices(db, { ...share, deskIds }) : [];
      if (claimed.length > 0) return takeTurns(claimed);
      after = deskIds.length === desksPerLook ? (deskIds.at(-1) ?? "") : "";
    } while (after !== "");
  }
  return [];
}

/** One of each desk in the order of their ids, then a second of each, oldest first. */
function takeTurns(claimed: readonly ClaimedNotice[]): ClaimedNotice[] {
  const oldest = claimed.toSorted((a, b) => (a.notice_id < b.notice_id ? -1 : 1));
  const desks = [...Map.groupBy(oldest, ({ desk_id }) => desk_id)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, own]) => own);
  return Array.from({ length: perDeskMax }, (_, turn) => turn).flatMap((turn) =>
    desks.flatMap((own) => own[turn] ?? []),
  );
}

async function sendBatch(
  ctx: Context,
  options: NoticeOptions,
  {
    claimed,
    isStopping,
    onServed,
    cut,
  }: {
    readonly claimed: readonly ClaimedNotice[];
    readonly isStopping: () => boolean;
    readonly onServed: (notice: ClaimedNotice) => void;
    readonly cut: AbortSignal;
  },
): Promise<void> {
  const left = [...claimed];
  const giveUpAt = ctx.now().getTime() + leaseMs - 2 * mailDeadlineMs;
  let session: MailSession | undefined;
  try {
    for (let notice = left[0]; notice !== undefined; notice = left[0]) {
      if (isStopping() || ctx.now().getTime() > giveUpAt) return;
      const address = await findWanted(ctx, notice);
      if (address) {
        session ??= await options.server.connect(cut);
        const result = await session.send(buildMail(ctx, options, { notice, address }));
        if (result.kind !== "accepted") session = undefined; // It is over.
        await settle(ctx, notice, result);
        options.onResult?.(result.kind === "accepted" ? "sent" : result.reason);
        if (left.length > 1) await sleep(60_000 / options.perMinute, undefined, { ref: false });
      }
      onServed(notice);
      left.shift();
    }
  } finally {
    session?.close();
    if (left.length > 0) await releaseNotices(ctx.db, left, ctx.now());
  }
}

/** The address, if it still wants the notice; otherwise the notice is dropped. */
async function findWanted(
  { db, now: readClock }: Pick<Context, "db" | "now">,
  notice: ClaimedNotice,
): Promise<AddressRow | undefined> {
  const now = readClock();
  const address = await findAddress(db, notice.address_id);
  const people = address?.operator_id ? await listOperators({ db }) : [];
  const person = people.find(({ operator_id }) => operator_id === address?.operator_id);
  const reason = findStop({ address, person }, notice, now);
  if (reason === undefined) return address;
  const state = reason === "too_old" ? "dead" : "dropped";
  const { notice_id, lease } = notice;
  const row = { notice_id, lease, state, reason, answer: null, due_at: now, attempts: 0 } as const;
  await settleNotices(db, [row], now);
  return undefined;
}

function findStop(
  {
    address,
    person,
  }: { readonly address: AddressRow | undefined; readonly person: OperatorView | undefined },
  { occasion, queued_at }: ClaimedNotice,
  now: Date,
): "address_removed" | "person_disabled" | "opted_out" | "too_old" | undefined {
  if (!address || address.removed_at) return "address_removed";
  if (person?.status === "disabled") return "person_disabled";
  if (address.opted_out.includes(occasion)) return "opted_out";
  return now.getTime() - queued_at.getTime() > ageMaxMs ? "too_old" : undefined;
}

async function settle(
  { db, now: readClock }: Pick<Context, "db" | "now">,
  { notice_id, lease, attempts, queued_at }: ClaimedNotice,
  result: MailResult,
): Promise<void> {
  const now = readClock();
  const settled = settleAttempt(result, { attempts: attempts + 1, queuedAt: queued_at, now });
  const { state, reason, answer, dueAt } = settled;
  const row = { notice_id, lease, state, reason, answer, due_at: dueAt, attempts: 1 };
  await settleNotices(db, [row], now);
}

function buildMail(
  ctx: Pick<Context, "now" | "sealKey">,
  { from, publicUrl, templates }: NoticeOptions,
  { notice, address }: { readonly notice: ClaimedNotice; readonly address: AddressRow },
) {
  const { occasion, notice_id } = notice;
  const optOut = { addressId: address.address_id, occasion };
  const link = buildOptOutLink(ctx, publicUrl, optOut);
  const words = { house: from.name, email: address.email, occasion: occasionWords[occasion], link };
  return {
    messageId: `<${notice_id}@${from.address.slice(from.address.lastIndexOf("@") + 1)}>`,
    from,
    to: address.email,
    subject: notice.subject,
    text: `${notice.body}${fill(templates.footer, words)}`,
    date: ctx.now(),
    headers: {
      "Auto-Submitted": "auto-generated",
      "List-Unsubscribe": `<${link}>`,
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    },
  };
}

const keptDays = { done: 30, dead: 90 } as const;
const deletedMax = 1_000;

/** Deletes notices that were sent or dropped a month ago, and dead ones after three. */
export async function deleteOldNotices({
  db,
  now,
}: Pick<Context, "db" | "now">): Promise<"more" | "idle"> {
  const before = (days: number) => new Date(now().getTime() - days * 86_400_000);
  const gone = await deleteOld(db, {
    doneBefore: before(keptDays.done),
    deadBefore: before(keptDays.dead),
    limit: deletedMax,
  });
  return gone === deletedMax ? "more" : "idle";
}
