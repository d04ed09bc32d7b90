// When a deal that waits for money may end. The bank's statement says whether the money came in time:
//
//   read     a statement reaches past the deadline: what came in time has been counted
//   unread   none does; two working days later the deal ends all the same, and people are told
//   queued   a line that came in time may be its money: the deal waits until a person has decided

import { addPaise, type PaiseSum } from "../kernel/money.ts";
import { istDay, istDayStart } from "../kernel/time.ts";
import { addWorkingDays, type Calendar } from "../kernel/working-days.ts";
import type { UnpaidDeal } from "../settlement/rules.ts";

/** For so many working days after its deadline a deal waits for a statement. */
export const unreadWorkingDays = 2;

/** A credit line in the queue. */
export type QueuedMoney = {
  readonly paise: number;
  readonly value_at: Date;
  /** The deals and firms whose money it may be; nobody's where it names none. */
  readonly claimants: readonly string[];
};

type BankWord = {
  /** Up to when the bank's statements were read; null before the first. */
  readonly reachedAt: Date | null;
  readonly queued: readonly QueuedMoney[];
  /** What each buyer has free. */
  readonly available: ReadonlyMap<string, PaiseSum>;
  readonly calendar: Calendar;
};

type DealWait = "waits" | "may_end" | "may_end_unread";

export function judgeDeal(deal: UnpaidDeal, word: BankWord, now: Date): DealWait {
  if (mayBePaid(deal, word)) return "waits";
  const { dueAt } = deal;
  if (word.reachedAt !== null && word.reachedAt >= dueAt) return "may_end";
  const from = istDayStart(istDay(dueAt));
  const last = addWorkingDays(from, unreadWorkingDays, "bank", word.calendar);
  return last <= now ? "may_end_unread" : "waits";
}

/**
 * Whether lines in the queue may be the deal's money: those that name it or its buyer, with what the
 * buyer has, reach for it, or one that names nobody is exactly its sum.
 */
function mayBePaid(deal: UnpaidDeal, { queued, available }: BankWord): boolean {
  const inTime = queued.filter(({ value_at }) => value_at <= deal.dueAt);
  const isOwn = ({ claimants }: QueuedMoney) =>
    claimants.includes(deal.dealId) || claimants.includes(deal.firmId);
  const own = inTime.filter(isOwn);
  const reach = own.reduce<PaiseSum>(
    (sum, { paise }) => addPaise(sum, paise),
    available.get(deal.firmId) ?? 0,
  );
  if (own.length > 0 && reach >= deal.paise) return true;
  const since = istDayStart(istDay(deal.dealtAt));
  return inTime.some(
    ({ claimants, paise, value_at }) =>
      claimants.length === 0 && paise === deal.paise && value_at >= since,
  );
}
