import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { type Scheme, schemes } from "../kernel/scheme.ts";
import { marketGroup } from "../../test/support/market-group.ts";
import { drawFrom } from "../../test/support/market.ts";
import { type Effort, assignCredits } from "./assign-credits.ts";
import {
  type Holdings,
  isMove,
  mayPay,
  none,
  type Assignment,
  type NettingBoard,
  buildBoard,
} from "./rules.ts";

const rupee = 100;

function assigned(board: NettingBoard, effort?: Effort): Assignment {
  const slices = assignCredits(board, effort);
  for (let turns = 0; turns < 100_000; turns++) {
    const slice = slices.next();
    if (slice.done) return slice.value;
  }
  throw new Error("credits are assigned in a bounded number of slices");
}

/** What an assignment is judged by; each figure counts among equals of those before it. */
function judge({ credits, requirements }: NettingBoard, paid: ArrayLike<number>): number[] {
  const used = Array.from(paid).flatMap((place, at) => (place === none ? [] : [{ at, place }]));
  const covered = used.reduce((sum, { at }) => sum + (credits[at]?.face_paise ?? 0), 0);
  const moves = used.filter(({ at, place }) => {
    const [credit, requirement] = [credits[at], requirements[place]];
    return credit && requirement && isMove(credit, requirement);
  });
  const queue = used.reduce((sum, { at }) => sum + 2 ** -(at + 1), 0);
  return [covered, -moves.length, -used.length, queue];
}

function compareFigures(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((figure, place) => figure !== b[place]);
  return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}

function firmsById({ firms }: Holdings) {
  return new Map(firms.map((firm) => [firm.firm_id, firm]));
}

/** Every way to hand out the credits, by the plain rules and without anything clever. */
function bestByForce(holdings: Holdings, board: NettingBoard): number[] {
  const { credits, requirements } = board;
  const firms = firmsById(holdings);
  const room = requirements.map(({ amount_paise }) => amount_paise);
  const paid = new Int32Array(credits.length).fill(none);
  let best: number[] = [];
  const hand = (at: number): void => {
    const credit = credits[at];
    if (!credit) {
      const figures = judge(board, paid);
      if (best.length === 0 || compareFigures(figures, best) > 0) best = figures;
      return;
    }
    hand(at + 1);
    requirements.forEach((requirement, place) => {
      if (credit.face_paise > (room[place] ?? 0)) return;
      if (!mayPay(credit, requirement, firms)) return;
      room[place] = (room[place] ?? 0) - credit.face_paise;
      paid[at] = place;
      hand(at + 1);
      paid[at] = none;
      room[place] = (room[place] ?? 0) + credit.face_paise;
    });
  };
  hand(0);
  return best;
}

/** Nobody pays what they may not, and nothing is paid beyond the duty. */
function assertSound(holdings: Holdings, board: NettingBoard, { paid }: Assignment): void {
  const { credits, requirements } = board;
  const room = requirements.map(({ amount_paise }) => amount_paise);
  const firms = firmsById(holdings);
  paid.forEach((place, at) => {
    const [credit, requirement] = [credits[at], requirements[place]];
    if (place === none || !credit) return;
    assert.ok(requirement && mayPay(credit, requirement, firms));
    room[place] = (room[place] ?? 0) - credit.face_paise;
  });
  assert.ok(room.every((left) => left >= 0));
}

const firms = [
  { firm_id: "frm_a", pan: "A", may_trade: true },
  { firm_id: "frm_b", pan: "B", may_trade: true },
  { firm_id: "frm_b2", pan: "B", may_trade: true },
  { firm_id: "frm_c", pan: "C", may_trade: false },
  { firm_id: "frm_d", pan: "D", may_trade: true },
];
const firmId = fc.constantFrom(...firms.map(({ firm_id }) => firm_id));
const day = fc.constantFrom("2027-01-31", "2027-02-28", "2027-03-31");

const smallGroup = fc
  .record({
    unit: fc.constantFrom(1, 5, rupee),
    credits: fc.array(
      fc.record({
        firm_id: firmId,
        scheme: fc.constantFrom(...schemes),
        face_paise: fc.integer({ min: 1, max: 12 }),
        expires_on: day,
        is_movable: fc.oneof({ arbitrary: fc.constant(true), weight: 4 }, fc.constant(false)),
      }),
      { maxLength: 8 },
    ),
    requirements: fc.array(
      fc.record({
        firm_id: firmId,
        scheme: fc.constantFrom<Scheme | null>(...schemes, null),
        amount_paise: fc.integer({ min: 1, max: 30 }),
        due_on: day,
      }),
      { maxLength: 3 },
    ),
  })
  .map(({ unit, credits, requirements }): Holdings => {
    return {
      firms,
      credits: credits.map((credit, at) => ({
        ...credit,
        scrip_no: `SCRIP${at}`,
        face_paise: credit.face_paise * unit,
      })),
      requirements: requirements.map((requirement, at) => ({
        ...requirement,
        requirement_id: `rqm_${at}`,
        amount_paise: requirement.amount_paise * unit,
        version: 1,
      })),
    };
  });

test("few credits get the best assignment by every criterion, and it is proven", () => {
  fc.assert(
    fc.property(smallGroup, (holdings) => {
      const board = buildBoard(holdings);
      const assignment = assigned(board);
      assertSound(holdings, board, assignment);
      const best = bestByForce(holdings, board);
      assert.deepEqual(judge(board, assignment.paid), best);
      assert.equal(assignment.isProven, true);
    }),
    { numRuns: 400 },
  );
});

test("without the exact search an assignment is valid, and optimal where it says so", () => {
  let proven = 0;
  let short = 0;
  fc.assert(
    fc.property(smallGroup, (holdings) => {
      const board = buildBoard(holdings);
      const assignment = assigned(board, { fewSteps: 0 });
      assertSound(holdings, board, assignment);
      const [covered = 0] = judge(board, assignment.paid);
      const [most = 0] = bestByForce(holdings, board);
      assert.ok(covered <= most);
      const [hasty = 0] = judge(board, assigned(board, { fewSteps: 0, searches: 0 }).paid);
      if (hasty < most) short += 1;
      if (!assignment.isProven) return;
      proven += 1;
      assert.equal(covered, most);
    }),
    { numRuns: 1_000 },
  );
  assert.ok(proven > 100, "the bound proves something");
  assert.ok(short > 0, "the force sees where a hasty search falls short");
});

test("the assignment does not depend on the order in which rows are read", () => {
  const group = { firms: 4, credits: 40, requirements: 6 };
  for (let seed = 1; seed <= 5; seed++) {
    const holdings = marketGroup(drawFrom(seed), group);
    const turned: Holdings = {
      firms: holdings.firms.toReversed(),
      credits: holdings.credits.toReversed(),
      requirements: holdings.requirements.toReversed(),
    };
    assert.deepEqual(assigned(buildBoard(turned)), assigned(buildBoard(holdings)));
  }
});

test("up to fourteen credits that may pay anything are proven", () => {
  for (let seed = 1; seed <= 3; seed++) {
    const holdings = marketGroup(drawFrom(seed), { firms: 3, credits: 14, requirements: 4 });
    const open: Holdings = {
      ...holdings,
      credits: holdings.credits.map((credit) => ({ ...credit, expires_on: "2028-12-31" })),
      requirements: holdings.requirements.map((owed) => ({ ...owed, scheme: null })),
    };
    assert.equal(assigned(buildBoard(open)).isProven, true);
  }
});

test("thousands of credits get a valid assignment, in slices, to within a rupee of each duty", () => {
  const holdings = marketGroup(drawFrom(1), { firms: 20, credits: 4_000, requirements: 40 });
  const board = buildBoard(holdings);
  const assignment = assigned(board);
  assertSound(holdings, board, assignment);
  assert.equal(assignment.isProven, true);
  const [covered = 0] = judge(board, assignment.paid);
  const owed = holdings.requirements.reduce((sum, { amount_paise }) => sum + amount_paise, 0);
  assert.ok(owed - covered < rupee * holdings.requirements.length);
});

test("when credits are scarce, every usable credit is used", () => {
  const holdings = marketGroup(drawFrom(2), { firms: 5, credits: 300, requirements: 60 });
  const scarce: Holdings = {
    ...holdings,
    credits: holdings.credits.map((credit) => ({ ...credit, expires_on: "2028-12-31" })),
    requirements: holdings.requirements.map((owed) => ({ ...owed, scheme: null })),
  };
  const board = buildBoard(scarce);
  const assignment = assigned(board);
  assertSound(scarce, board, assignment);
  assert.equal(assignment.isProven, true);
  const most = Math.max(...scarce.requirements.map(({ amount_paise }) => amount_paise));
  const left = board.credits.filter((_, at) => assignment.paid[at] === none);
  assert.deepEqual(
    left.filter(({ face_paise }) => face_paise <= most),
    [],
  );
});

test("a search without steps left returns its best assignment so far", () => {
  const holdings = marketGroup(drawFrom(3), { firms: 5, credits: 80, requirements: 8 });
  const board = buildBoard(holdings);
  const assignment = assigned(board, { fewSteps: 0, searches: 0 });
  assertSound(holdings, board, assignment);
  const [hasty = 0] = judge(board, assignment.paid);
  const [covered = 0] = judge(board, assigned(board).paid);
  assert.ok(hasty > 0 && hasty <= covered);
});
