import assert from "node:assert/strict";
import { test } from "node:test";

import {
  applyTermChanges,
  refusePastDay,
  type RequirementTerms,
  isSameTerms,
} from "./requirement-rules.ts";

const today = "2026-11-15";
const terms: RequirementTerms = {
  scheme: "RODTEP",
  amount_paise: 100,
  due_on: "2026-12-31",
  reference: "BE-1",
};

test("a due day before today is refused, across months and years too", () => {
  for (const day of ["2026-11-15", "2026-11-16", "2026-12-01", "2027-01-01", "9999-12-31"]) {
    refusePastDay(day, today);
  }
  for (const day of ["2026-11-14", "2026-10-31", "2025-12-31", "1000-01-01"]) {
    assert.throws(() => refusePastDay(day, today), { code: "unprocessable" });
  }
});

test("a change sets the fields it names and no other", () => {
  const changes: Partial<RequirementTerms>[] = [
    { scheme: "ROSCTL" },
    { scheme: null },
    { amount_paise: 7 },
    { due_on: today },
    { reference: "BE-2" },
  ];
  for (const change of changes) {
    const changed = applyTermChanges(terms, change, today);
    assert.deepEqual(changed, { ...terms, ...change });
    assert.equal(isSameTerms(terms, changed), false);
  }
  assert.ok(isSameTerms(terms, applyTermChanges(terms, {}, today)));
  assert.ok(isSameTerms(terms, applyTermChanges(terms, terms, today)));
});

test("a past requirement can be corrected but not moved into the past", () => {
  const passed = { ...terms, due_on: "2026-11-01" };
  const corrected = applyTermChanges(passed, { amount_paise: 5, due_on: "2026-11-01" }, today);
  assert.deepEqual(corrected, { ...passed, amount_paise: 5 });
  assert.throws(() => applyTermChanges(passed, { due_on: "2026-11-02" }, today), {
    code: "unprocessable",
  });
});
