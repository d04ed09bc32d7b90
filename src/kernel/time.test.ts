import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import {
  addDays,
  dayMs,
  dayNumber,
  istDay,
  istMonth,
  istTimestamp,
  lastDayOfMonth,
  nextIstMonthStart,
  parseInstant,
} from "./time.ts";

const instants = fc.date({
  min: new Date("1970-01-01T00:00:00Z"),
  max: new Date("2199-12-31T23:59:59Z"),
  noInvalidDate: true,
});

/** The same question, put to the time zone database. */
const kolkata = new Intl.DateTimeFormat("en-CA", {
  timeZone: "Asia/Kolkata",
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
});

test("a timestamp is IST to the millisecond and reads back as the same instant", () => {
  fc.assert(
    fc.property(instants, (instant) => {
      const text = istTimestamp(instant);
      assert.match(text, /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}\+05:30$/);
      assert.deepEqual(parseInstant(text), instant);
      assert.equal(text.slice(0, 10), istDay(instant));
    }),
  );
});

test("days and months are those of the IST calendar", () => {
  fc.assert(
    fc.property(instants, (instant) => {
      assert.equal(istDay(instant), kolkata.format(instant));
      assert.equal(istMonth(instant), istDay(instant).slice(0, 7));
    }),
  );
});

test("days are counted from 1970, also those of the first years, and back to the same text", () => {
  const all = fc.date({
    min: new Date("0001-01-01T00:00:00Z"),
    max: new Date("9999-12-31T00:00:00Z"),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(all, (instant) => {
      const day = instant.toISOString().slice(0, 10);
      assert.equal(dayNumber(day), Math.floor(instant.getTime() / dayMs));
      assert.equal(addDays("1970-01-01", dayNumber(day)), day);
    }),
  );
  assert.equal(dayNumber("2028-03-01") - dayNumber("2028-02-28"), 2);
});

test("a day turns at midnight IST, which is half past six in the evening UTC", () => {
  assert.equal(istDay(new Date("2026-11-14T18:29:59.999Z")), "2026-11-14");
  assert.equal(istDay(new Date("2026-11-14T18:30:00.000Z")), "2026-11-15");
  assert.equal(istMonth(new Date("2026-12-31T18:30:00Z")), "2027-01");
  assert.equal(istDay(new Date("2028-02-28T18:30:00Z")), "2028-02-29");
});

test("the next month starts where the month of an instant changes", () => {
  fc.assert(
    fc.property(instants, (instant) => {
      const start = nextIstMonthStart(instant);
      assert.ok(start > instant);
      assert.notEqual(istMonth(start), istMonth(instant));
      assert.equal(istMonth(new Date(start.getTime() - 1)), istMonth(instant));
      assert.match(istTimestamp(start), /-01T00:00:00\.000\+05:30$/);
    }),
  );
});

test("the last day of a month is the day before the next one starts", () => {
  fc.assert(
    fc.property(instants, (instant) => {
      const eve = new Date(nextIstMonthStart(instant).getTime() - dayMs);
      assert.equal(lastDayOfMonth(istMonth(instant)), istDay(eve));
    }),
  );
  assert.equal(lastDayOfMonth("2028-02"), "2028-02-29");
  assert.equal(lastDayOfMonth("2100-02"), "2100-02-28");
  assert.equal(lastDayOfMonth("2026-12"), "2026-12-31");
});

test("an instant needs a calendar day, a time and an offset", () => {
  assert.deepEqual(parseInstant("2027-03-31T23:59:59+05:30"), new Date("2027-03-31T18:29:59Z"));
  assert.deepEqual(parseInstant("2028-02-29T00:00:00Z"), new Date("2028-02-29T00:00:00Z"));
  assert.deepEqual(parseInstant("2027-01-01T00:00:00.5Z"), new Date("2027-01-01T00:00:00.500Z"));
  const wrong = [
    "",
    "2027-03-31",
    "2027-03-31T23:59:59",
    "2027-03-31 23:59:59Z",
    "2027-02-29T00:00:00Z",
    "2027-02-31T00:00:00+05:30",
    "2027-13-01T00:00:00Z",
    "2027-00-10T00:00:00Z",
    "2027-01-00T00:00:00Z",
    "2027-01-01T24:00:01Z",
    "2027-01-01T25:00:00Z",
    "2027-01-01T00:60:00Z",
    "2027-01-01T00:00:61Z",
    "2027-01-01T00:00:00+25:00",
    "+012027-01-01T00:00:00Z",
    " 2027-01-01T00:00:00Z",
    "2027-01-01T00:00:00Z\n",
    "1e3",
  ];
  for (const text of wrong) assert.equal(parseInstant(text), undefined, text);
});

test("parsing any text gives an instant or undefined, and never an invalid date", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const instant = parseInstant(text);
      assert.ok(instant === undefined || !Number.isNaN(instant.getTime()));
    }),
  );
});
