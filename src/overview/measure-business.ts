import { type Environment, environments } from "../kernel/caller.ts";
import { dayMs, istDay, istDayStart, minuteMs } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { type Measured, measureLabelled, type Metrics } from "../platform/metrics.ts";
import { loadCardsToday } from "../rates/current-cards.ts";
import { schemes } from "../kernel/scheme.ts";
import { countWaiting, sumDealt, type WaitingCounts } from "./store.ts";

/** Exact, as alerts compare it; an operator's page stops counting much earlier. */
const countMost = 1_000_000;

type Business = {
  readonly environment: Environment;
  readonly waiting: WaitingCounts;
  /** By scheme: in the last whole minute. */
  readonly deals: ReadonlyMap<string, number>;
  /** By scheme: the share of the day's limit that the house has taken on. */
  readonly limitUsed: ReadonlyMap<string, number>;
};

/** What the business waits for and does, for monitoring. All gauges of one scrape share one look. */
export function measureBusiness(ctx: Pick<Context, "db" | "now">, metrics: Metrics): void {
  let reading: Promise<readonly Business[]> | undefined;
  const look = async () => {
    reading ??= Promise.all(environments.map((environment) => lookAt(ctx, environment))).finally(
      () => (reading = undefined),
    );
    return await reading;
  };
  const measure = (
    name: string,
    help: string,
    labelNames: readonly string[],
    list: (business: Business) => readonly Measured[],
  ) =>
    measureLabelled(metrics, {
      name: `scripdesk_${name}`,
      help,
      labelNames: ["environment", ...labelNames],
      read: async () =>
        (await look()).flatMap((business) =>
          list(business).map(({ labels, value }) => ({
            labels: { environment: business.environment, ...labels },
            value,
          })),
        ),
    });
  const one = (value: number): Measured[] => [{ labels: {}, value }];

  measure(
    "settlements_waiting",
    "Open settlements by whom they wait for",
    ["on"],
    ({ waiting }) => [
      { labels: { on: "buyer" }, value: waiting.settlements_for_buyer },
      { labels: { on: "seller" }, value: waiting.settlements_for_seller },
      { labels: { on: "customs" }, value: waiting.settlements_for_customs },
    ],
  );
  measure("settlements_late", "Settlements past their deadline and open", [], ({ waiting }) =>
    one(waiting.settlements_late),
  );
  measure(
    "deals_unread",
    "Unpaid deals past their deadline that wait for the bank's statement",
    [],
    ({ waiting }) => one(waiting.deals_unread),
  );
  measure("settlements_due_today", "Open settlements whose deadline is today", [], ({ waiting }) =>
    one(waiting.settlements_due_today),
  );
  measure(
    "payouts_waiting",
    "Payouts that have not arrived, by state",
    ["state"],
    ({ waiting }) => [
      { labels: { state: "scheduled" }, value: waiting.payouts_scheduled },
      { labels: { state: "held" }, value: waiting.payouts_held },
      { labels: { state: "instructed" }, value: waiting.payouts_instructed },
      { labels: { state: "sent" }, value: waiting.payouts_sent },
      { labels: { state: "returned" }, value: waiting.payouts_returned },
    ],
  );
  measure("bank_lines_waiting", "Lines of the bank that nobody explained", [], ({ waiting }) =>
    one(waiting.bank_lines),
  );
  measure("questions_waiting", "Open questions to customs and banks", [], ({ waiting }) =>
    one(waiting.questions),
  );
  measure("enquiries_waiting", "Enquiries of the public that are not closed", [], ({ waiting }) =>
    one(waiting.enquiries),
  );
  measure("deals_last_minute", "Deals of the last whole minute", ["scheme"], ({ deals }) =>
    schemes.map((scheme) => ({ labels: { scheme }, value: deals.get(scheme) ?? 0 })),
  );
  measure(
    "house_limit_used_ratio",
    "The share of the day's limit that the house has taken on",
    ["scheme"],
    ({ limitUsed }) => [...limitUsed].map(([scheme, value]) => ({ labels: { scheme }, value })),
  );
}

async function lookAt(
  { db, now: readClock }: Pick<Context, "db" | "now">,
  environment: Environment,
): Promise<Business> {
  const now = readClock();
  const minute = new Date(Math.floor(now.getTime() / minuteMs - 1) * minuteMs);
  const dayEnd = new Date(istDayStart(istDay(now)).getTime() + dayMs);
  const [waiting, dealt, dealtSince, findCard] = await Promise.all([
    countWaiting(db.planned, { environment, now, dayEnd, most: countMost }),
    sumDealt(db, environment, minute),
    sumDealt(db, environment, new Date(minute.getTime() + minuteMs)),
    db.run(loadCardsToday([environment], now)),
  ]);
  const later = new Map<string, number>(dealtSince.map(({ scheme, deals }) => [scheme, deals]));
  const limitUsed = schemes.flatMap((scheme): [string, number][] => {
    const card = findCard(environment, scheme);
    return card ? [[scheme, card.taken_paise / Math.max(1, card.house_limit_paise)]] : [];
  });
  return {
    environment,
    waiting,
    deals: new Map(dealt.map(({ scheme, deals }) => [scheme, deals - (later.get(scheme) ?? 0)])),
    limitUsed: new Map(limitUsed),
  };
}
