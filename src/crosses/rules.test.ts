import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { feeWithin } from "../kernel/money.ts";
import { Failure } from "../kernel/failure.ts";
import { plainCalendar } from "../kernel/working-days.ts";
import {
  listAllowedActions,
  crossActions,
  type CrossAction,
  crossLifecycle,
  type CrossMove,
  crossStates,
  computeDueAt,
  feeBpsByKind,
  requireMove,
  openStates,
  refuseRole,
  advanceCross,
  computeSums,
  hashTerms,
  findWaitingOn,
  computeShares,
} from "./rules.ts";

const actions = Object.keys(crossActions) as CrossAction[];
const moves = Object.keys(crossLifecycle.moves) as CrossMove[];
const bothSides = ["sell", "buy"] as const;

/** The table a second time, as the documentation has it. */
const edges: Readonly<Partial<Record<string, string>>> = {
  "proposed accept": "agreed",
  "proposed decline": "declined",
  "proposed cancel": "cancelled",
  "proposed expire": "expired",
  "agreed cancel": "cancelled",
  "agreed fund": "funded",
  "agreed expire": "expired",
  "agreed lose": "cancelled",
  "funded release": "released",
  "funded refund": "refunded",
  "released settle": "settled",
  "released fail": "failed",
};

test("the lifecycle has exactly these moves", () => {
  for (const state of crossStates) {
    for (const move of moves) {
      const expected = edges[`${state} ${move}`];
      if (expected) assert.equal(advanceCross(state, move), expected);
      else assert.throws(() => advanceCross(state, move), Failure, `${state} ${move}`);
    }
  }
});

test("a permitted action moves the cross, and a refusal lists the allowed actions", () => {
  for (const state of crossStates) {
    for (const proposedBy of bothSides) {
      for (const sides of [["sell"], ["buy"], ["sell", "buy"]] as const) {
        const standing = { state, proposedBy, sides };
        const allowed = listAllowedActions(standing);
        for (const action of actions) {
          if (allowed.includes(action)) {
            refuseRole(action, standing);
            assert.ok(advanceCross(state, requireMove(action, standing)));
          } else {
            assert.throws(
              () => requireMove(action, standing),
              ({ code, detail }: Failure) =>
                code === "conflict" && String(detail?.["allowed_actions"]) === String(allowed),
            );
          }
        }
      }
    }
  }
});

test("an action is forbidden to a side that has its role in no state", () => {
  const refused = (action: CrossAction, side: "sell" | "buy", proposedBy: "sell" | "buy") => {
    try {
      refuseRole(action, { state: "proposed", proposedBy, sides: [side] });
      return false;
    } catch (error) {
      return error instanceof Failure && error.code === "forbidden";
    }
  };
  for (const proposedBy of bothSides) {
    for (const side of bothSides) {
      assert.equal(refused("accept", side, proposedBy), side === proposedBy);
      assert.equal(refused("decline", side, proposedBy), side === proposedBy);
      assert.equal(refused("fund", side, proposedBy), side === "sell");
      assert.equal(refused("release", side, proposedBy), side === "buy");
      assert.equal(refused("cancel", side, proposedBy), false);
    }
  }
});

test("a cross has a deadline exactly while a party can act", () => {
  const now = new Date("2026-11-16T05:00:00Z");
  for (const state of crossStates) {
    const isOpen = (openStates as readonly string[]).includes(state);
    for (const environment of ["live", "sandbox"] as const) {
      const due = computeDueAt(state, environment, now, plainCalendar);
      assert.equal(due !== null && due > now, isOpen, state);
    }
    const waiting = findWaitingOn({ state, proposed_by: "sell", payment_ref: null });
    assert.equal(waiting === "none", !isOpen && state !== "released");
  }
  assert.equal(
    computeDueAt("funded", "live", now, plainCalendar)?.toISOString(),
    "2026-11-17T12:00:00.000Z",
  );
  const proposal = { state: "proposed", payment_ref: null } as const;
  assert.equal(findWaitingOn({ ...proposal, proposed_by: "sell" }), "buyer");
  assert.equal(findWaitingOn({ ...proposal, proposed_by: "buy" }), "seller");
  const paid = { state: "agreed", proposed_by: "sell", payment_ref: "P" } as const;
  assert.equal(findWaitingOn(paid), "bank");
});

test("a block costs two basis points of face on each side, a transfer in a group nothing", () => {
  const block = { facePaise: 1_000_000_001, priceBps: 9_777, feeBps: feeBpsByKind.block };
  assert.deepEqual(computeSums(block), {
    valuePaise: 977_700_000,
    feePaise: 200_001,
    sellerPaise: 977_499_999,
    buyerPaise: 977_900_001,
  });
  const transfer = computeSums({ ...block, feeBps: feeBpsByKind.intra_group });
  assert.equal(transfer?.sellerPaise, 977_700_000);
  assert.equal(transfer?.buyerPaise, 977_700_000);
  assert.equal(
    computeSums({ facePaise: 1, priceBps: 9_999, feeBps: 0 }),
    undefined,
    "worth nothing",
  );
  assert.equal(computeSums({ facePaise: 2 ** 53 - 1, priceBps: 10_000, feeBps: 2 }), undefined);
});

const faces = fc.array(
  fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 1e10 })),
  {
    minLength: 1,
    maxLength: 12,
  },
);
const bps = fc.integer({ min: 1, max: 10_000 });

test("the shares of the legs are never below zero and sum exactly to the cross", () => {
  fc.assert(
    fc.property(faces, bps, fc.integer({ min: 0, max: 50 }), (legs, priceBps, feeBps) => {
      const facePaise = legs.reduce((sum, face) => sum + face, 0);
      const sums = computeSums({ facePaise, priceBps, feeBps });
      if (!sums) return;
      const shares = computeShares(legs, { priceBps, feeBps, gstBps: 1_800 });
      const total = (toAmount: (share: (typeof shares)[number]) => number) =>
        shares.reduce((sum, share) => sum + toAmount(share), 0);
      assert.equal(shares.length, legs.length);
      assert.equal(
        total((share) => share.sellerPaise),
        sums.sellerPaise,
      );
      assert.equal(
        total((share) => share.buyerPaise),
        sums.buyerPaise,
      );
      const { feePaise, gstPaise } = feeWithin(sums.feePaise, 1_800);
      for (const side of ["buyer", "seller"] as const) {
        assert.equal(
          total((share) => share.fees[side].feePaise),
          feePaise,
        );
        assert.equal(
          total((share) => share.fees[side].gstPaise),
          gstPaise,
        );
      }
      for (const { sellerPaise, fees } of shares) {
        const parts = [sellerPaise, ...Object.values(fees).flatMap((fee) => Object.values(fee))];
        assert.ok(
          parts.every((part) => part >= 0),
          JSON.stringify(shares),
        );
      }
    }),
  );
});

const terms = {
  kind: "block",
  sellerIec: "AABCT1234K",
  buyerIec: "AAACB5678L",
  scheme: "RODTEP",
  facePaise: 1_000_000_000,
  priceBps: 9_800,
  feeBps: 2,
  gstBps: 1_800,
  scripNos: ["B", "A"],
} as const;

test("equal terms have the same hash and different terms have different ones", () => {
  // These bytes are agreed on with every cross that was ever made: they must never change.
  const known = "0c1367210a7ae5a895f0d04b0e6905329c16377c4991abba699d9b920c0d84fe";
  assert.equal(hashTerms(terms), known);
  assert.equal(hashTerms({ ...terms, scripNos: ["A", "B"] }), known);
  const others = [
    { kind: "intra_group" as const },
    { sellerIec: terms.buyerIec, buyerIec: terms.sellerIec },
    { scheme: "ROSCTL" as const },
    { facePaise: 1_000_000_001 },
    { priceBps: 9_801 },
    { feeBps: 3 },
    { scripNos: ["A"] },
    { scripNos: null },
  ];
  const names = others.map((other) => hashTerms({ ...terms, ...other }));
  assert.equal(new Set([known, ...names]).size, others.length + 1);
});
