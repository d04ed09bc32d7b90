import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { Failure } from "../kernel/failure.ts";
import { advance, allowedActions } from "../kernel/lifecycle.ts";
import { addDays, daysBetween } from "../kernel/time.ts";
import {
  type CreditAction,
  type CreditFacts,
  creditLifecycle,
  type CreditState,
  type CreditUse,
  findUsedElsewhere,
  takePart,
  creditStates,
  findExpiryDueDay,
  expiryWarningDays,
  parseDeclaration,
  isLive,
  isOpen,
  chooseLift,
  resolveScripNo,
  findNotSellableReason,
  type Known,
  judgeDeclaration,
  findWarning,
} from "./rules.ts";
import { simulateCredits } from "./synthetic-credits.ts";

const facts: CreditFacts = {
  scrip_no: "SCRIP0000001",
  scheme: "RODTEP",
  issued_paise: 1_000,
  face_paise: 900,
  port_code: "INNSA1",
  issued_on: "2026-10-01",
  expires_on: "2028-09-30",
};

const day = fc.integer({ min: 0, max: 20_000 }).map((offset) => addDays("2020-01-01", offset));

test("every move leads from exactly the states of the table, and is refused from all others", () => {
  for (const action of Object.keys(creditLifecycle.moves) as CreditAction[]) {
    const { from, to } = creditLifecycle.moves[action];
    for (const state of creditStates) {
      if ((from as readonly string[]).includes(state)) {
        assert.equal(advance(creditLifecycle, state, action), to);
        continue;
      }
      assert.throws(
        () => advance(creditLifecycle, state, action),
        (error) => error instanceof Failure && error.code === "conflict",
      );
    }
  }
});

test("a caller may withdraw or use a credit, and an ended state has no moves", () => {
  const allowed = Object.fromEntries(
    creditStates.map((state) => [state, allowedActions(creditLifecycle, state)]),
  );
  assert.deepEqual(
    Object.entries(allowed).filter(([, actions]) => actions.length > 0),
    [
      ["declared", ["withdraw"]],
      ["listed", ["withdraw", "use"]],
    ],
  );
  const left = new Set(Object.values(creditLifecycle.moves).flatMap(({ from }) => [...from]));
  for (const state of creditStates) assert.equal(left.has(state as never), isOpen(state), state);
});

test("lifting a suspension restores the state before it", () => {
  for (const state of creditLifecycle.moves.suspend.from) {
    assert.equal(advance(creditLifecycle, "suspended", chooseLift(state)), state);
  }
});

test("a declaration is checked against the firm's own credits, then against other holders", () => {
  const strict = { followsBalance: false };
  const own = (state: CreditFacts & { state: (typeof creditStates)[number] }): Known => ({
    own: state,
    heldElsewhere: true,
    usedPaise: 0,
  });
  for (const state of creditStates) {
    const verdict = judgeDeclaration(facts, own({ ...facts, state }), strict);
    const differs = judgeDeclaration(
      { ...facts, face_paise: 800 },
      own({ ...facts, state }),
      strict,
    );
    if (isOpen(state)) {
      assert.deepEqual(verdict, { kind: "same" });
      assert.deepEqual(differs, { kind: "refuse", reason: "facts_differ" });
    } else if (["used", "cancelled", "transferred"].includes(state)) {
      assert.deepEqual(verdict, { kind: "refuse", reason: "ended" });
    } else {
      assert.deepEqual(verdict, { kind: "refuse", reason: "held_elsewhere" });
    }
  }
  const free = { own: undefined, heldElsewhere: false, usedPaise: 0 };
  assert.deepEqual(judgeDeclaration(facts, free, strict), { kind: "create" });
});

test("a report lowers the balance of a credit that no deal holds, and never raises it", () => {
  const report = { followsBalance: true };
  for (const state of creditStates.filter(isOpen)) {
    const known = { own: { ...facts, state }, heldElsewhere: false, usedPaise: 0 };
    const lower = judgeDeclaration({ ...facts, face_paise: 800 }, known, report);
    const free = state === "declared" || state === "listed";
    assert.equal(lower.kind, free ? "lower" : "refuse", state);
    assert.equal(judgeDeclaration({ ...facts, face_paise: 950 }, known, report).kind, "refuse");
    const two = { ...facts, face_paise: 800, port_code: null };
    assert.equal(judgeDeclaration(two, known, report).kind, "refuse");
  }
});

test("a credit that was used in part is declared anew with no more than is left", () => {
  const known = { own: { ...facts, state: "withdrawn" }, heldElsewhere: false } as const;
  const room = facts.issued_paise - facts.face_paise;
  const judge = (usedPaise: number) =>
    judgeDeclaration(facts, { ...known, usedPaise }, { followsBalance: false });
  assert.deepEqual(judge(room), { kind: "create" });
  assert.deepEqual(judge(room + 1), { kind: "refuse", reason: "was_used" });
});

test("parts add up to what a credit had, whatever their order, and never to more", () => {
  const part = fc.integer({ min: 1, max: 60 });
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 200 }),
      fc.array(part, { maxLength: 12 }),
      (face, parts) => {
        const uses: CreditUse[] = [];
        let left = face;
        for (const [at, amountPaise] of parts.entries()) {
          const bill = { bill_of_entry: `B${at}`, used_on: "2026-11-01", port_code: "INNSA1" };
          const use = takePart(left, uses, { ...bill, amountPaise });
          if (use instanceof Failure) {
            assert.ok(amountPaise > left);
            continue;
          }
          uses.push(use);
          left = use.balance_paise;
        }
        const used = uses.reduce((sum, use) => sum + use.amount_paise, 0);
        assert.equal(used + left, face);
        const credit = { issued_paise: face + 7, face_paise: left };
        assert.equal(findUsedElsewhere(credit, uses), 7);
      },
    ),
  );
});

test("a scrip number resolves to the live holding, then to a claim, then to the latest row", () => {
  const row = fc.record({
    firm_id: fc.constantFrom("a", "b"),
    state: fc.constantFrom(...creditStates),
  });
  const latestFirst = fc.array(row, { maxLength: 6 });
  fc.assert(
    fc.property(latestFirst, fc.constantFrom(null, "a", "b"), (rows, firmId) => {
      const own = rows.filter((each) => firmId === null || each.firm_id === firmId);
      const rankState = (state: CreditState) =>
        [isLive(state), state === "declared", true].indexOf(true);
      const [best] = own.toSorted((x, y) => rankState(x.state) - rankState(y.state));
      assert.equal(resolveScripNo(rows, firmId), best);
    }),
  );
});

test("for a sub_account key a scrip number resolves to a credit of its firm only", () => {
  const ladder = [
    { firm_id: "a", state: "rejected" },
    { firm_id: "b", state: "withdrawn" },
    { firm_id: "a", state: "declared" },
    { firm_id: "b", state: "suspended" },
  ] as const;
  const [latest, ended, claim, live] = ladder;
  assert.equal(resolveScripNo(ladder, null), live);
  assert.equal(resolveScripNo(ladder, "a"), claim);
  assert.equal(resolveScripNo([latest, ended], null), latest);
  assert.equal(resolveScripNo([latest, ended], "b"), ended);
  assert.equal(resolveScripNo([latest, claim], "b"), undefined);
});

test("reasons not to be sellable come in a fixed order", () => {
  const today = "2026-11-15";
  const reason = (state: (typeof creditStates)[number], expiresOn: string, firmState: string) =>
    findNotSellableReason({ state, expires_on: expiresOn }, { firmState, today });
  for (const state of creditStates) {
    if (state !== "listed") assert.equal(reason(state, "2026-11-14", "suspended"), state);
  }
  assert.equal(reason("listed", "2026-11-14", "suspended"), "expired");
  assert.equal(reason("listed", "2026-11-15", "suspended"), "firm_not_authorized");
  assert.equal(reason("listed", "2026-12-14", "authorized"), "too_short");
  assert.equal(reason("listed", "2026-12-15", "authorized"), null);
});

test("each expiry warning ahead is given once, day by day, and then the credit expires", () => {
  fc.assert(
    fc.property(day, fc.integer({ min: 0, max: 120 }), (expiresOn, daysBefore) => {
      let told: number | null = null;
      const marks: number[] = [];
      for (let left = daysBefore; left >= 0; left--) {
        const today = addDays(expiresOn, -left);
        if (findExpiryDueDay(expiresOn, told) > today) continue;
        const mark = findWarning(expiresOn, today);
        assert.ok(mark !== undefined && (told === null || mark < told));
        marks.push(mark);
        told = mark;
      }
      const first = expiryWarningDays.findLast((mark) => daysBefore <= mark);
      const expected = expiryWarningDays.filter((mark) => mark <= (first ?? Infinity));
      assert.deepEqual(marks, expected);
      assert.equal(findExpiryDueDay(expiresOn, told), addDays(expiresOn, 1));
    }),
  );
});

test("days are added and counted on the calendar", () => {
  fc.assert(
    fc.property(day, fc.integer({ min: -800, max: 800 }), (from, days) => {
      assert.equal(daysBetween(from, addDays(from, days)), days);
    }),
  );
  assert.equal(addDays("2028-02-28", 1), "2028-02-29");
});

test("an invalid declaration names every invalid field", () => {
  const broken = {
    scrip_no: "-no",
    scheme: "RODTEP" as const,
    face_paise: 5,
    issued_paise: 4,
    port_code: "??",
    issued_on: "2027-01-01",
    expires_on: "2026-01-01",
  };
  assert.throws(
    () => parseDeclaration(broken, "2026-11-15"),
    (error) => {
      assert.ok(error instanceof Failure);
      const fields = error.detail?.["fields"] as { path: string }[];
      assert.deepEqual(
        fields.map(({ path }) => path),
        ["scrip_no", "face_paise", "port_code", "issued_on", "expires_on"],
      );
      return true;
    },
  );
});

test("the simulated registry answers the same valid credits for an IEC every time", () => {
  const today = "2026-11-15";
  const credits = simulateCredits("AAACA1234A", today);
  assert.deepEqual(credits, simulateCredits("AAACA1234A", "2026-11-30"));
  assert.equal(new Set(credits.map(({ scrip_no }) => scrip_no)).size, credits.length);
  for (const credit of credits) {
    const { port_code, ...rest } = credit;
    assert.deepEqual(parseDeclaration({ ...rest, ...(port_code && { port_code }) }, today), credit);
  }
  assert.ok(isLive("suspended") && !isLive("declared"));
});
