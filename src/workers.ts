// The background workers of the service, and how often each runs.

import { topUpShelf } from "./credits/seed-credits.ts";
import { simulateAccount, simulateFunding, simulatePayout } from "./outside/bank-rules.ts";
import { bankWatch } from "./bankbook/watch-deadlines.ts";
import type { Book } from "./trading/book.ts";
import { createCheckpointWorker, sendCheckpoints } from "./journal/checkpoints.ts";
import { applyHoldings } from "./credits/registry-news.ts";
import { expireCredits } from "./credits/end-holdings.ts";
import { applyCrossFunding } from "./crosses/fund-cross.ts";
import { endOverdue } from "./crosses/end-crosses.ts";
import { createFanOut, deliveriesTopic } from "./webhooks/fan-out.ts";
import { createSender, type SenderOptions } from "./webhooks/send-deliveries.ts";
import { eventsTopic } from "./journal/event-rules.ts";
import { createFormWorker } from "./journal/former-form.ts";
import { applyChecks } from "./firms/check-firm.ts";
import { warnOfUncovered } from "./firms/requirements.ts";
import { warnOfMandates } from "./firms/change-firm.ts";
import { finishOffboarding, type Offboarding } from "./firms/offboard-firm.ts";
import { answerDueQuestions, type Appliers } from "./outside/answer-questions.ts";
import type { Simulators } from "./outside/question-rules.ts";
import { isId } from "./kernel/ids.ts";
import { checkLedgerWhenDue } from "./ledger/check-ledger.ts";
import { latestIndex, offboarding as everySlice, settlementHooks, timeHooks } from "./hooks.ts";
import { countDepth, updateMarkets } from "./market/update-markets.ts";
import { openBookSessions } from "./trading/book-session.ts";
import {
  cancelOrdersWithoutCredits,
  cancelSmallRemainders,
  expireOrders,
} from "./trading/end-orders.ts";
import { findCovers } from "./trading/read-orders.ts";
import { createRestingMatcher } from "./trading/match-resting.ts";
import { createNoticeQueue, noticesTopic } from "./notices/queue-notices.ts";
import {
  createNoticeSender,
  deleteOldNotices,
  type NoticeOptions,
} from "./notices/send-notices.ts";
import type { Context } from "./platform/context.ts";
import type { LineSink } from "./platform/line-sink.ts";
import { keepOffenders, type Offenders } from "./platform/postgres/offenders.ts";
import type { WorkerOptions } from "./platform/worker.ts";
import { fixIndex } from "./market/daily-index.ts";
import { deleteExpiredEnquiries } from "./market/answer-enquiries.ts";
import { makePartitions } from "./retention/partitions.ts";
import { collectDues } from "./payouts/collect-dues.ts";
import { applyPayments, sendDuePayouts } from "./payouts/schedule-payouts.ts";
import { simulateHolding, simulateIdentity, simulateTransfer } from "./outside/registry-rules.ts";
import {
  applyFunding,
  applyTransfers,
  initiateTransfers,
} from "./settlement/advance-settlements.ts";
import { payDefaults } from "./settlement/defaults.ts";
import { failOverdue } from "./settlement/fail-settlements.ts";
import { fundFromBalances } from "./settlement/fund-settlements.ts";
import { tellLateTasks } from "./settlement/tasks.ts";
import { issueBills } from "./taxes/bills.ts";
import { issueInvoices } from "./taxes/taxes.ts";
import { finishAdvances } from "./sandbox/advance-clock.ts";
import { createStatementFreezer } from "./reports/freeze-statements.ts";
import { createScheduler } from "./unattended/run-schedules.ts";
import { createDropTaker } from "./unattended/take-dropped.ts";
import { tellThresholds } from "./access/plans.ts";
import type { Letterhead } from "./platform/pdf.ts";

export type WorkerSpec = Pick<WorkerOptions, "name" | "pauseMs" | "work"> & {
  /** A topic whose announcement wakes the worker early. */
  readonly wakeOn?: string;
  /** Resolves when work that was started in the background is done. */
  readonly settled?: () => Promise<void>;
};

export type WorkOptions = {
  readonly book: Book;
  readonly webhooks: SenderOptions;
  /** The letterhead of statements. */
  readonly letterhead: Letterhead;
  /** Where audit checkpoints are sent; undefined keeps them in the database. */
  readonly checkpoints?: LineSink | undefined;
  /** The offboarding hooks of other rooms; a test may replace them. */
  readonly offboarding?: Offboarding | undefined;
  /** How notices are sent by mail; undefined sends none. */
  readonly notices?: NoticeOptions | undefined;
  /** The drop folder; undefined has none. */
  readonly drop?: Parameters<typeof createDropTaker>[1] | undefined;
  /** What runs at times of the day; undefined has none. */
  readonly schedules?: Parameters<typeof createScheduler>[1] | undefined;
  /** Called with the name of a worker that sets an item aside. */
  readonly onSetAside?: ((worker: string) => void) | undefined;
};

export const simulators: Simulators = {
  firm_identity: simulateIdentity,
  bank_account: simulateAccount,
  credit_holding: simulateHolding,
  deal_funding: simulateFunding,
  credit_transfer: simulateTransfer,
  payout: simulatePayout,
};

export const appliers: Appliers = {
  firms: applyChecks,
  credits: applyHoldings,
  async funding(tx, actor, answered, now) {
    // Funding is for settlements, and for crosses that have no settlement yet.
    const isOfCross = ({ subject_id }: (typeof answered)[number]) => isId("crs", subject_id);
    const ofCrosses = answered.filter(isOfCross);
    const ofSettlements = answered.filter((question) => !isOfCross(question));
    if (ofCrosses.length > 0) await applyCrossFunding(tx, actor, ofCrosses, now);
    if (ofSettlements.length === 0) return;
    await applyFunding(tx, actor, ofSettlements, { settlementHooks, now });
  },
  transfers: (tx, actor, answered, now) =>
    applyTransfers(tx, actor, answered, { settlementHooks, now }),
  payouts: applyPayments,
};

export function listWorkers(
  ctx: Context,
  {
    book,
    webhooks,
    letterhead,
    checkpoints,
    offboarding = everySlice,
    notices,
    drop,
    schedules,
    onSetAside,
  }: WorkOptions,
): WorkerSpec[] {
  const books = openBookSessions(book);
  const known = new Map<string, Offenders>();
  /** The items that a worker has set aside, kept between runs. */
  const aside = (worker: string): Offenders => {
    const offenders = known.get(worker) ?? keepOffenders({ worker, log: ctx.log, onSetAside });
    known.set(worker, offenders);
    return offenders;
  };
  return [
    // First, so that payouts find a recent result of the ledger check.
    { name: "ledger-check", pauseMs: 10_000, work: () => checkLedgerWhenDue(ctx) },
    {
      name: "simulation",
      pauseMs: 250,
      work: () => answerDueQuestions(ctx, simulators, appliers, aside("simulation")),
    },
    { name: "funding", pauseMs: 1_000, work: () => fundFromBalances(ctx, aside("funding")) },
    {
      name: "settlement",
      pauseMs: 250,
      work: () => initiateTransfers(ctx, settlementHooks, aside("settlement")),
    },
    {
      name: "deadlines",
      pauseMs: 1_000,
      work: () => failOverdue(ctx, { settlementHooks, bankWatch }, aside("deadlines")),
    },
    { name: "tasks", pauseMs: 1_000, work: () => tellLateTasks(ctx, aside("tasks")) },
    {
      name: "cross-deadlines",
      pauseMs: 1_000,
      work: () => endOverdue(ctx, bankWatch, aside("cross-deadlines")),
    },
    { name: "defaults", pauseMs: 5_000, work: () => payDefaults(ctx, aside("defaults")) },
    { name: "dues", pauseMs: 60_000, work: () => collectDues(ctx, aside("dues")) },
    { name: "payouts", pauseMs: 500, work: () => sendDuePayouts(ctx, aside("payouts")) },
    {
      name: "offboarding",
      pauseMs: 2_000,
      work: () => finishOffboarding(ctx, offboarding, aside("offboarding")),
    },
    { name: "expiry", pauseMs: 15_000, work: () => expireCredits(ctx, aside("expiry")) },
    { name: "mandates", pauseMs: 60_000, work: () => warnOfMandates(ctx, aside("mandates")) },
    {
      name: "requirements",
      pauseMs: 60_000,
      work: () => warnOfUncovered({ ...ctx, findCovers }, aside("requirements")),
    },
    { name: "matching", pauseMs: 1_000, work: createRestingMatcher(ctx, books, aside("matching")) },
    {
      name: "order-upkeep",
      pauseMs: 10_000,
      work: () => cancelOrdersWithoutCredits(ctx, aside("order-upkeep")),
    },
    {
      name: "small-rests",
      pauseMs: 10_000,
      work: () => cancelSmallRemainders(ctx, aside("small-rests")),
    },
    { name: "order-expiry", pauseMs: 1_000, work: () => expireOrders(ctx, aside("order-expiry")) },
    { name: "depth", pauseMs: 5_000, work: () => countDepth(ctx, aside("depth")) },
    {
      name: "market",
      pauseMs: 500,
      work: () => updateMarkets({ ...ctx, latestIndex }, aside("market")),
    },
    { name: "usage", pauseMs: 10_000, work: () => tellThresholds(ctx) },
    { name: "index", pauseMs: 60_000, work: () => fixIndex(ctx, aside("index")) },
    { name: "invoices", pauseMs: 5_000, work: () => issueInvoices(ctx, aside("invoices")) },
    { name: "bills", pauseMs: 5_000, work: () => issueBills(ctx, aside("bills")) },
    {
      name: "shelf",
      pauseMs: 1_000,
      work: async () => {
        await topUpShelf(ctx);
        return "idle";
      },
    },
    {
      name: "desk-clocks",
      pauseMs: 5_000,
      work: () => finishAdvances(ctx, timeHooks, aside("desk-clocks")),
    },
    { name: "statements", pauseMs: 60_000, work: createStatementFreezer(ctx, letterhead) },
    { name: "checkpoints", pauseMs: 60_000, work: createCheckpointWorker(ctx) },
    { name: "journal-form", pauseMs: 60_000, work: createFormWorker(ctx) },
    {
      name: "checkpoints-out",
      pauseMs: 10_000,
      work: () => sendCheckpoints(ctx, checkpoints),
    },
    { name: "retention", pauseMs: 600_000, work: () => deleteExpiredEnquiries(ctx) },
    { name: "partitions", pauseMs: 600_000, work: () => makePartitions(ctx) },
    {
      name: "fan-out",
      pauseMs: 1_000,
      wakeOn: eventsTopic,
      work: createFanOut(ctx, webhooks, aside("fan-out")),
    },
    {
      name: "deliveries",
      pauseMs: 250,
      wakeOn: deliveriesTopic,
      ...createSender(ctx, webhooks),
    },
    ...(drop ? [{ name: "drop-folder", pauseMs: 15_000, work: createDropTaker(ctx, drop) }] : []),
    ...(schedules
      ? [{ name: "schedules", pauseMs: 10_000, work: createScheduler(ctx, schedules) }]
      : []),
    ...(notices ? listNoticeWorkers(ctx, notices, aside("notice-queue")) : []),
  ];
}

/** After a pause of some seconds: what happens together shares a notice. */
function listNoticeWorkers(
  ctx: Context,
  notices: NoticeOptions,
  offenders: Offenders,
): WorkerSpec[] {
  return [
    {
      name: "notice-queue",
      pauseMs: 5_000,
      work: createNoticeQueue(ctx, notices.templates, offenders),
    },
    {
      name: "notices",
      pauseMs: 5_000,
      wakeOn: noticesTopic,
      ...createNoticeSender(ctx, notices),
    },
    { name: "notice-retention", pauseMs: 600_000, work: () => deleteOldNotices(ctx) },
  ];
}
