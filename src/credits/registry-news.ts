// What customs reports about credits: news (suspended, lifted, cancelled, used) at any time, and
// the answers to questions about claims.

import { recordChanges } from "../journal/record-changes.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { advance } from "../kernel/lifecycle.ts";
import { istDay } from "../kernel/time.ts";
import type { AnsweredQuestion } from "../outside/question-rules.ts";
import type { Context } from "../platform/context.ts";
import type { Db, Tx } from "../platform/postgres/postgres.ts";
import { removeFromBooks } from "./end-holdings.ts";
import { buildCreditChange, describeUse } from "./read-credits.ts";
import { toAction, creditLifecycle, isLive, normalizeScripNo, type RegistryNews } from "./rules.ts";
import { type CreditRow, lockOpenByNumber, setCredits } from "./store.ts";
import { rejectRivals } from "./take-declarations.ts";

type NewsItem = {
  readonly scripNo: string;
  readonly news: RegistryNews;
  readonly reason: string;
};

type NewsResult = {
  readonly scrip_no: string;
  readonly ok: boolean;
  readonly from: string | null;
  readonly to: string | null;
  /** The deal that holds the credit. */
  readonly reserved_for: string | null;
  readonly problem: string | null;
};

/** A reserved credit that customs suspended, cancelled or reported as used. */
export type LostCredit = { readonly scripNo: string; readonly news: RegistryNews };

/** How a room ends the deals that such a credit belongs to. */
export type LostCreditHook = {
  /** The ids of the open deals with one of these credits. */
  readonly list: (db: Db, numbers: Numbers) => Promise<readonly string[]>;
  /** Locks these deals and everything that their end locks before credits. */
  readonly lock: (tx: Tx, dealIds: readonly string[]) => Promise<void>;
  /** Ends the deals that cannot deliver; returns its changes, which are recorded last. */
  readonly follow: (
    tx: Tx,
    actor: Actor,
    lost: { readonly environment: Environment; readonly credits: readonly LostCredit[] },
    now: Date,
  ) => Promise<readonly Change[]>;
};

type Numbers = { readonly environment: Environment; readonly scripNos: readonly string[] };

/** A deal was made after the deals were locked and before the credits were. */
class DealtMeanwhile extends Error {}
const attemptsMax = 10;

/**
 * Applies news about credits, also while a deal holds them. Deals are locked before their credits,
 * as everywhere. When a deal was made between both locks, the transaction is retried.
 */
export async function applyRegistryNews(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  {
    environment,
    news,
    onLost,
  }: {
    readonly environment: Environment;
    readonly news: readonly NewsItem[];
    readonly onLost: readonly LostCreditHook[];
  },
): Promise<readonly NewsResult[]> {
  const now = ctx.now();
  const scripNos = [...new Set(news.map(({ scripNo }) => normalizeScripNo(scripNo) ?? ""))];
  const hear = async (tx: Tx) => {
    const locked: (readonly string[])[] = [];
    for (const { list, lock } of onLost) {
      const dealIds = await list(tx, { environment, scripNos });
      if (dealIds.length > 0) await lock(tx, dealIds);
      locked.push(dealIds);
    }
    const { results, changes, ended } = await applyNews(tx, environment, news, now);
    for (const [at, { list }] of onLost.entries()) {
      const known = new Set(locked[at]);
      const dealIds = await list(tx, { environment, scripNos });
      if (dealIds.some((id) => !known.has(id))) throw new DealtMeanwhile();
    }
    const credits = results.flatMap(({ ok, scrip_no, reserved_for }, at) => {
      const heard = news[at]?.news;
      const isLost = ok && reserved_for !== null && heard !== undefined && heard !== "lift";
      return isLost ? [{ scripNo: scrip_no, news: heard }] : [];
    });
    const also: Change[] = [];
    for (const { follow } of credits.length > 0 ? onLost : []) {
      also.push(...(await follow(tx, actor, { environment, credits }, now)));
    }
    // After the deals have ended: none holds the credits in the books now.
    await removeFromBooks(tx, ended, now);
    await recordChanges(tx, actor, [...changes, ...also], now);
    return results;
  };
  for (let attempt = 1; ; attempt++) {
    try {
      return await ctx.db.transaction(hear);
    } catch (error) {
      if (!(error instanceof DealtMeanwhile) || attempt === attemptsMax) throw error;
    }
  }
}

const transferMayBeOpen =
  "its transfer may be open at customs: say first what became of that (settlements confirm-transfer)";

type AppliedNews = {
  readonly results: readonly NewsResult[];
  readonly changes: readonly Change[];
  /** The holdings before and after; the caller removes the ended ones from the books. */
  readonly ended: Parameters<typeof removeFromBooks>[1];
};

/**
 * Applies news inside the caller's transaction; the caller records the changes. The second item
 * about one number is refused.
 */
export async function applyNews(
  tx: Tx,
  environment: Environment,
  news: readonly NewsItem[],
  now: Date,
): Promise<AppliedNews> {
  if (news.length === 0) return { results: [], changes: [], ended: [] };
  const numbers = news.map(({ scripNo }) => normalizeScripNo(scripNo) ?? "");
  const open = await lockOpenByNumber(tx, environment, [...new Set(numbers)]);
  const live = new Map(open.filter(({ state }) => isLive(state)).map((row) => [row.scrip_no, row]));
  const heard = new Map<string, { readonly before: CreditRow; readonly item: NewsItem }>();
  const placements: CreditRow[] = [];
  const results = news.map((item, index): NewsResult => {
    const number = numbers[index] ?? "";
    const before = live.get(number);
    if (!before) return toRefusal(item, "no live holding of this number");
    if (heard.has(before.credit_id)) return toRefusal(item, "this number was named before");
    if (before.state === "in_settlement") return toRefusal(item, transferMayBeOpen);
    const placed = moveByNews(before, item, now);
    if (placed instanceof Failure) return toRefusal(item, placed.message);
    heard.set(before.credit_id, { before, item });
    placements.push(placed);
    return {
      scrip_no: number,
      ok: true,
      from: before.state,
      to: placed.state,
      reserved_for: before.reserved_for,
      problem: null,
    };
  });
  const placed = placements.length > 0 ? await tx.run(setCredits(placements, now)) : [];
  const changes = placed.flatMap((after) => {
    const told = heard.get(after.credit_id);
    if (!told) return [];
    const { before, item } = told;
    const event = findNewsEvent(item.news, after);
    const used = after.state === "used" && describeUse(before, after);
    const data = { reason: item.reason, ...used };
    return [buildCreditChange({ action: item.news, before, after, data, ...(event && { event }) })];
  });
  const ended = placed.map((after) => ({ before: heard.get(after.credit_id)?.before, after }));
  return { results, changes, ended };
}

function moveByNews(row: CreditRow, { news, reason }: NewsItem, now: Date): CreditRow | Failure {
  try {
    const state = advance(creditLifecycle, row.state, toAction(news, row.state_before_suspension));
    const ends = !isLive(state);
    return {
      ...row,
      state,
      face_paise: state === "used" ? 0 : row.face_paise,
      state_before_suspension: state === "suspended" ? row.state : null,
      reserved_for: ends ? null : row.reserved_for,
      reason,
      as_of: now,
    };
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

function findNewsEvent(news: RegistryNews, after: CreditRow) {
  if (news === "suspend") return "credit.suspended" as const;
  if (after.state === "listed") return "credit.listed" as const;
  if (after.state === "used") return "credit.used" as const;
  return undefined;
}

function toRefusal({ scripNo }: NewsItem, problem: string): NewsResult {
  return { scrip_no: scripNo, ok: false, from: null, to: null, reserved_for: null, problem };
}

/**
 * Applies the registry's answers about claims: confirmed claims are listed, the others rejected. A
 * confirmed claim to a number with a live holding is rejected too, so that a scrip never has two
 * holders.
 */
export async function applyHoldings(
  tx: Tx,
  actor: Actor,
  answered: readonly AnsweredQuestion<"credit_holding">[],
  now: Date,
): Promise<void> {
  const changes = [];
  for (const environment of new Set(answered.map((question) => question.environment))) {
    const asked = answered.filter((question) => question.environment === environment);
    const numbers = [...new Set(asked.map(({ facts }) => facts.scrip_no))];
    const open = await lockOpenByNumber(tx, environment, numbers);
    const judged = judgeClaims(asked, open);
    if (judged.length === 0) continue;
    const before = new Map(open.map((row) => [row.credit_id, row]));
    const placed = await tx.run(setCredits(judged, now));
    changes.push(
      ...placed.map((after) =>
        buildCreditChange({
          action: after.state === "listed" ? "confirm" : "reject",
          before: before.get(after.credit_id) ?? null,
          after,
          ...(after.state === "listed" && { event: "credit.listed" }),
        }),
      ),
      ...(await rejectRivals(tx, placed, now)),
    );
  }
  await recordChanges(tx, actor, changes, now);
}

function judgeClaims(
  asked: readonly AnsweredQuestion<"credit_holding">[],
  open: readonly CreditRow[],
): CreditRow[] {
  const claims = new Map(open.map((row) => [row.credit_id, row]));
  const taken = new Set(open.filter(({ state }) => isLive(state)).map((row) => row.scrip_no));
  return asked.flatMap(({ subject_id, answer, as_of, facts }) => {
    const claim = claims.get(subject_id);
    if (claim?.state !== "declared") return [];
    const wins = answer.held && !taken.has(claim.scrip_no);
    if (wins) taken.add(claim.scrip_no);
    const state = advance(creditLifecycle, claim.state, wins ? "confirm" : "reject");
    const reason = answer.held ? "held_elsewhere" : answer.reason;
    const isShown = wins && facts.face_paise === claim.face_paise;
    const balance_shown_on = isShown ? istDay(as_of) : null;
    return [{ ...claim, state, reason: wins ? null : reason, balance_shown_on, as_of }];
  });
}
