import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { addDays, istDay, istDayStart } from "./time.ts";
import {
  addWorkingDays,
  type Calendar,
  isWorkingDay,
  lateUntil,
  offices,
  plainCalendar,
} from "./working-days.ts";

const at = (text: string) => new Date(`${text}+05:30`);

function calendarWith(days: {
  readonly bank?: Record<string, boolean>;
  readonly customs?: Record<string, boolean>;
}): Calendar {
  const { bank = {}, customs = {} } = days;
  return {
    version: JSON.stringify(days),
    days: { bank: new Map(Object.entries(bank)), customs: new Map(Object.entries(customs)) },
  };
}

test("working days follow the week, the holidays of each office and extra working days of banks", () => {
  const calendar = calendarWith({
    bank: { "2026-11-24": false, "2026-11-29": true, "2026-08-15": true },
    customs: { "2026-11-25": false },
  });
  const works = (day: string, among = calendar) =>
    offices.filter((office) => isWorkingDay(day, office, among)).join(" ");
  assert.equal(works("2026-11-23"), "bank customs");
  assert.equal(works("2026-11-24"), "");
  assert.equal(works("2026-11-24", plainCalendar), "bank customs");
  assert.equal(works("2026-11-25"), "bank");
  assert.equal(works("2026-11-29"), "bank customs");
  assert.equal(works("2026-11-29", plainCalendar), "");
  assert.equal(works("2026-11-28"), ""); // The fourth Saturday.
  assert.equal(works("2026-11-21"), "bank customs"); // The third.
  assert.equal(works("2026-10-02"), "");
  assert.equal(works("2026-08-15"), "bank customs");
});

test("a deadline is the close of a working day of the given calendar", () => {
  const monday = at("2026-11-23T10:00:00");
  const holiday = calendarWith({ bank: { "2026-11-24": false } });
  const due = (calendar: Calendar) => addWorkingDays(monday, 1, "bank", calendar);
  assert.deepEqual(due(plainCalendar), at("2026-11-24T17:30:00"));
  assert.deepEqual(due(holiday), at("2026-11-25T17:30:00"));
  assert.deepEqual(due(plainCalendar), at("2026-11-24T17:30:00"));
  const closed = calendarWith({ customs: { "2026-11-24": false, "2026-11-25": false } });
  assert.deepEqual(addWorkingDays(monday, 1, "customs", closed), at("2026-11-26T17:30:00"));
  assert.deepEqual(addWorkingDays(monday, 1, "bank", closed), at("2026-11-24T17:30:00"));
});

test("a deadline on a day that became a holiday moves to the next working day", () => {
  const due = at("2026-11-24T17:30:00");
  const late = (now: string, calendar: Calendar) => due <= lateUntil(at(now), "bank", calendar);
  assert.equal(late("2026-11-24T17:29:59", plainCalendar), false);
  assert.equal(late("2026-11-24T17:30:00", plainCalendar), true);
  const holiday = calendarWith({ bank: { "2026-11-24": false } });
  assert.equal(late("2026-11-24T17:30:00", holiday), false);
  assert.equal(late("2026-11-25T17:29:59", holiday), false);
  assert.equal(late("2026-11-25T17:30:00", holiday), true);
});

const firstDay = "2026-01-01";
const someDay = fc.integer({ min: 0, max: 800 }).map((days) => addDays(firstDay, days));
const anyCalendar = fc
  .record({
    bank: fc.dictionary(someDay, fc.boolean(), { maxKeys: 60 }),
    customs: fc.dictionary(someDay, fc.constant(false), { maxKeys: 60 }),
  })
  .map(calendarWith);
const anyInstant = fc
  .tuple(someDay, fc.integer({ min: 0, max: 86_399_999 }))
  .map(([day, ms]) => new Date(istDayStart(day).getTime() + ms));

test("with any calendar a deadline is on a working day, and is not missed before its close", () => {
  fc.assert(
    fc.property(
      anyCalendar,
      anyInstant,
      fc.integer({ min: 0, max: 5 }),
      fc.constantFrom(...offices),
      (calendar, now, days, office) => {
        const due = addWorkingDays(now, days, office, calendar);
        assert.ok(due > now || istDay(due) === istDay(now));
        assert.ok(isWorkingDay(istDay(due), office, calendar));
        const shortly = new Date(due.getTime() - 1);
        assert.ok(due > lateUntil(shortly, office, calendar));
        assert.ok(due <= lateUntil(due, office, calendar));
      },
    ),
  );
});

test("a calendar without working days still gives deadlines", () => {
  const never = Object.fromEntries(
    Array.from({ length: 800 }, (_, days) => [addDays(firstDay, days), false]),
  );
  const due = addWorkingDays(at("2026-11-23T10:00:00"), 1, "bank", calendarWith({ bank: never }));
  assert.ok(due > at("2026-11-23T10:00:00"));
});
