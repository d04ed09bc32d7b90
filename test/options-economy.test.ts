// Both sides of a live deal play the options that the customs portal gives them, by the rules alone: they
// do not initiate or accept when the market has moved their way, do so late, and claim what they did not
// do. Whoever did its part in time never pays, nobody gets both the credit and its money, and leaving a
// deal costs what the card says. The controls are a share of nothing and a clock that refunds.

import assert from "node:assert/strict";
import { test } from "node:test";

import { plainCalendar } from "../src/kernel/working-days.ts";
import { decideLegs, stepLeg } from "../src/settlement/decide-legs.ts";
import { takeSighted } from "../src/settlement/ledger-report.ts";
import { matchReport, type ReportLine } from "../src/settlement/match-report.ts";
import { newSettlement } from "../src/settlement/open-settlements.ts";
import {
  findLegEndsAt,
  isAtCustoms,
  isOpenLeg,
  type LegOutcome,
  settlementLifecycle,
} from "../src/settlement/rules.ts";
import type { LegRow, SettlementRow } from "../src/settlement/store.ts";
import { type Random, seededRandom } from "./support/random.ts";

const deals = 400;
const tickMs = 6 * 3_600_000;
const ticks = 60;
/** When operators read the report: after the close of each day. */
const reportHour = 18;
/** The market moves by less than this within a deal. */
const moveMaxBps = 45;
const face = 100_000_000;

type Rules = {
  readonly defaultBps: number;
  /** The defect: the clock refunds a receiver that has not accepted. */
  readonly clockRefunds: boolean;
};

/** What is so at the portal, whatever is said. */
type Truth = { initiatedAt: Date | null; acceptedAt: Date | null; goneAt: Date | null };

type Outcome = { readonly breaches: string[]; readonly gainedBps: number; readonly left: number };

function play(seed: number, rules: Rules): Outcome {
  const random = seededRandom(seed);
  const breaches: string[] = [];
  let gainedBps = 0;
  let left = 0;
  for (let at = 0; at < deals; at++) {
    const deal = playDeal(random, rules);
    breaches.push(...deal.breaches);
    gainedBps += deal.gainedBps;
    left += deal.left;
  }
  return { breaches, gainedBps, left };
}

function openDeal({ defaultBps }: Rules, now: Date): { settlement: SettlementRow; leg: LegRow } {
  const party = (name: string) => ({ deskId: `dsk_${name}`, firmId: `frm_${name}`, orderId: null });
  const leg = {
    scripNo: "OPT1",
    creditId: "crd_1",
    seller: party("seller"),
    facePaise: face,
    sellerBps: 9_800,
    sellerPaise: 98_000_000,
    buyerPaise: 98_200_000,
  };
  const deal = {
    settlementId: "stl_1",
    environment: "live" as const,
    scheme: "RODTEP" as const,
    origin: "ord_1",
    originKind: "order" as const,
    buyer: party("buyer"),
    buyerBps: 9_820,
    legs: [leg],
  };
  const opened = newSettlement(deal, true, {
    now,
    calendar: plainCalendar,
    selfInitiating: new Set(["frm_seller"]),
    defaultBps: new Map([["RODTEP", defaultBps]]),
  });
  const [row] = opened.legs;
  assert.ok(row);
  const told = stepLeg(row, { move: "fund" }, { now, calendar: plainCalendar });
  return { settlement: { ...opened.settlement, begun: true }, leg: told };
}

/** One deal of two players, each of whom leaves it where that pays. */
function playDeal(random: Random, rules: Rules) {
  const start = new Date(Date.parse("2026-11-16T10:00:00+05:30") + random.below(28) * tickMs);
  const { settlement, leg: told } = openDeal(rules, start);
  let leg = told;
  const truth: Truth = { initiatedAt: null, acceptedAt: null, goneAt: null };
  const breaches: string[] = [];
  const move = random.below(2 * moveMaxBps) - moveMaxBps;
  const sellerLeaves = move > rules.defaultBps;
  const buyerLeaves = -move > rules.defaultBps;
  const style = { lies: random.below(3) === 0, late: random.below(4) === 0, idle: random.below(4) };
  let ended: LegOutcome | undefined;
  for (let tick = 1; tick <= ticks && !ended; tick++) {
    const now = new Date(start.getTime() + tick * tickMs);
    const when = { now, calendar: plainCalendar };
    const isOver = (dueAt: Date | null) => dueAt !== null && now > dueAt;
    if (rules.clockRefunds && leg.state === "to_accept" && isOver(leg.accept_due_at)) {
      ended = { move: "refuse", reason: "timeout" };
      continue;
    }
    // The holder claims what it did not do, initiates, or leaves.
    if (leg.state === "to_initiate" && (style.lies || truth.initiatedAt)) {
      leg = stepLeg(leg, { move: "initiate", reference: "CLAIM" }, when);
    }
    const isTime = tick > style.idle && (!style.late || isOver(leg.initiate_due_at));
    if (!sellerLeaves && !truth.initiatedAt && isTime) truth.initiatedAt = now;
    // The receiver accepts, says that nothing is there, or leaves.
    const isThere = truth.initiatedAt !== null && truth.goneAt === null;
    if (leg.state === "to_accept" && !isThere) leg = stepLeg(leg, missing, when);
    const mayAccept = isThere && !truth.acceptedAt && isAtCustoms(leg.state) && !buyerLeaves;
    if (mayAccept && (!style.late || isOver(leg.accept_due_at))) truth.acceptedAt = now;
    // A transfer that nobody accepts is taken back in the end.
    if (isThere && !truth.acceptedAt && tick > ticks - 10) truth.goneAt = now;
    if (now.getUTCHours() + 5.5 < reportHour && tick < ticks) continue;
    ({ leg, ended } = readReport({ settlement, leg, truth }, when));
    if (ended || !isOpenLeg(leg.state)) continue;
    const endsAt = findLegEndsAt(leg);
    if (endsAt && now > endsAt) ended = { move: "fail", reason: "timeout" };
  }
  const now = new Date(start.getTime() + ticks * tickMs);
  const outcome = ended ?? { move: "refuse" as const, reason: "timeout" as const, absentAt: now };
  const answers = { settlement, legs: [leg], outcomes: new Map([[leg.scrip_no, outcome]]) };
  const [end] = decideLegs(answers, now).legs;
  assert.ok(end);
  const { initiatedAt, acceptedAt } = truth;
  const wasInTime = initiatedAt !== null && initiatedAt <= (told.initiate_due_at ?? now);
  if (end.default_by === "sell" && wasInTime) breaches.push("a holder in time paid");
  const acceptedInTime = acceptedAt !== null && acceptedAt <= (leg.accept_due_at ?? now);
  if (end.default_by === "buy" && acceptedInTime) breaches.push("a receiver in time paid");
  if (end.default_by === "buy" && initiatedAt === null) breaches.push("a receiver of nothing paid");
  // What is still pending at the portal may be accepted after the refund.
  const isPending = initiatedAt !== null && truth.goneAt === null;
  if (end.state === "failed" && (acceptedAt || isPending)) {
    breaches.push("a buyer has both the credit and its money");
  }
  const hasLeft = end.state === "failed" && (sellerLeaves || buyerLeaves);
  const paidBps = end.default_by === null ? 0 : (end.default_paise * 10_000) / face;
  return { breaches, left: hasLeft ? 1 : 0, gainedBps: hasLeft ? Math.abs(move) - paidBps : 0 };
}

const missing = { move: "miss", reference: null, note: null } as const;

/** What a whole and true report does to the deal. */
function readReport(
  { settlement, leg, truth }: { settlement: SettlementRow; leg: LegRow; truth: Truth },
  when: { readonly now: Date; readonly calendar: typeof plainCalendar },
): { leg: LegRow; ended: LegOutcome | undefined } {
  const { initiatedAt, acceptedAt, goneAt } = truth;
  const at = (time: Date) => ({ from: time, to: time });
  const line: ReportLine[] =
    initiatedAt && !goneAt
      ? [
          {
            row: 2,
            scripNo: leg.scrip_no,
            facePaise: leg.face_paise,
            fromIec: "S",
            toIec: "B",
            status: acceptedAt ? "transferred" : "pending",
            initiated: at(initiatedAt),
            ended: acceptedAt && at(acceptedAt),
          },
        ]
      : [];
  const reported = { leg, sellerIec: "S", buyerIec: "B", isBuyerHouse: false };
  const looking = { asOf: when.now, isWhole: true, calendar: when.calendar };
  const { sightings } = matchReport({ lines: line, queued: [] }, [reported], looking);
  const [sighting] = sightings;
  assert.ok(settlementLifecycle.states.includes(settlement.state));
  if (!sighting) return { leg, ended: undefined };
  const next = takeSighted(sighting, "REPORT", when);
  if (sighting.move === "transferred")
    return { leg: next, ended: { move: "deliver", reason: null } };
  if (sighting.move !== "absent") return { leg: next, ended: undefined };
  const move = isAtCustoms(leg.state) ? ("refuse" as const) : ("fail" as const);
  return { leg: next, ended: { move, reason: "timeout", absentAt: when.now } };
}

test("whoever plays the options of the portal gains nothing, and whoever did its part never pays", () => {
  for (const seed of [1, 2, 3]) {
    const { breaches, gainedBps, left } = play(seed, { defaultBps: 50, clockRefunds: false });
    assert.deepEqual([...new Set(breaches)], []);
    assert.deepEqual({ gainedBps, left }, { gainedBps: 0, left: 0 }, "it pays to do one's part");
  }
});

test("leaving a deal costs the share where it is less than the market's move, too", () => {
  const { breaches, gainedBps, left } = play(4, { defaultBps: 20, clockRefunds: false });
  assert.deepEqual([...new Set(breaches)], []);
  assert.ok(left > 50 && gainedBps <= left * (moveMaxBps - 20), `${gainedBps} of ${left}`);
});

test("control: a share of nothing makes the options free", () => {
  const { gainedBps, left } = play(5, { defaultBps: 0, clockRefunds: false });
  assert.ok(left > 100 && gainedBps > left * 10, `${gainedBps} of ${left}`);
});

test("control: a clock that refunds lets a buyer have both the credit and its money", () => {
  const { breaches } = play(6, { defaultBps: 50, clockRefunds: true });
  assert.ok(breaches.includes("a buyer has both the credit and its money"));
});
