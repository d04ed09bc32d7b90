import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { addDay, readCalendar } from "../../src/outside/calendar.ts";
import { namedOperator } from "../../src/kernel/actor.ts";
import { addDays, dayMs, istDay, istTimestamp } from "../../src/kernel/time.ts";
import { addWorkingDays } from "../../src/kernel/working-days.ts";
import { nextUtr, openBankOffice } from "../support/bank-office.ts";
import { commandLine } from "../support/cli.ts";
import { type Service, startService } from "../support/service.ts";
import { addCredit, makeDeal, openTestDesk, type TestDesk } from "../support/settlements.ts";
import { askJournal } from "../support/journal.ts";

const environment = "live";

/** The deadline of a deal that waits for its buyer's money. */
async function readDueOfNewDeal(service: Service, buyer: TestDesk): Promise<string> {
  const seller = await openTestDesk(service, environment);
  const scripNo = await addCredit(service, seller);
  const id = await makeDeal(service, { environment, buyer, legs: [{ seller, scripNo }] });
  const { body } = await service.send("GET", `/v1/settlements/${id}`, { key: buyer.key });
  return body.due_at;
}

test("operators change the calendar, and live deadlines follow it on every node at once", async (t) => {
  const service = await startService(t);
  const beside = await startService(t, { beside: service });
  const { run, dataDir } = await commandLine(t, service);
  const ok = async (...words: string[]) => {
    const ran = await run(...words, "--json");
    assert.equal(ran.code, 0, ran.stderr);
    return JSON.parse(ran.stdout);
  };
  const refused = async (line: RegExp, ...words: string[]) => {
    const ran = await run(...words);
    assert.equal(ran.code, 1, ran.stdout);
    assert.match(ran.stderr, line);
  };

  const first = await ok("calendar", "list", "--year", "2026");
  assert.ok(first.length > 30);
  assert.ok(first.every(({ status }: { status: string }) => status === "check"));

  const buyer = await openTestDesk(service, environment);
  const now = service.clock.now();
  const before = await readCalendar(service.ctx.db);
  const due = addWorkingDays(now, 1, "bank", before);
  assert.equal(await readDueOfNewDeal(service, buyer), istTimestamp(due));
  const day = istDay(due);
  await ok("calendar", "add", day, "--office", "bank", "--name", "Declared", "--operator", "asha");
  const later = istTimestamp(addWorkingDays(now, 1, "bank", await readCalendar(beside.ctx.db)));
  assert.ok(later.slice(0, 10) > day);
  assert.equal(await readDueOfNewDeal(service, buyer), later);
  assert.equal(await readDueOfNewDeal(beside, buyer), later);
  await ok("calendar", "remove", day, "--office", "bank");
  assert.equal(await readDueOfNewDeal(service, buyer), istTimestamp(due));
  await refused(/says nothing of/, "calendar", "remove", day, "--office", "bank");

  const file = join(dataDir, "holidays.csv");
  const year = String(Number(istDay(now).slice(0, 4)) + 3);
  const rows = [`bank,${year}-03-01,Holi,`, `bank,${year}-03-07,Closing Sunday,yes`];
  await writeFile(file, `office,day,name,works\n${rows.join("\n")}\n`);
  assert.deepEqual(await ok("calendar", "import", file), { rows: 2, changed: 2, removed: 0 });
  assert.deepEqual(await ok("calendar", "import", file), { rows: 2, changed: 0, removed: 0 });
  const imported = await ok("calendar", "list", "--year", year);
  assert.deepEqual(
    imported.map(({ day: on, works, status }: Record<string, string>) => [on, works, status]),
    [
      [`${year}-03-01`, false, "confirmed"],
      [`${year}-03-07`, true, "confirmed"],
    ],
  );
  await writeFile(file, "office,day,name\nbank,2026-01-26,Republic Day\n");
  const replaced = await ok("calendar", "import", file);
  assert.equal(replaced.rows, 1);
  assert.ok(replaced.removed > 10);
  assert.equal((await ok("calendar", "list", "--office", "bank", "--year", "2026")).length, 1);

  for (const [row, problem] of [
    ["port,2026-02-03,Holiday", /row 2: office: must be bank or customs/],
    ["bank,2026-02-30,Holiday", /row 2: day: must be a day/],
    ["bank,2026-02-03,", /row 2: name/],
    ["bank,2026-12-25,Again", /row 2: day: is there twice/],
  ] as const) {
    await writeFile(file, `office,day,name\nbank,2026-12-25,Christmas\n${row}\n`);
    await refused(problem, "calendar", "import", file);
  }
  const works = ["calendar", "add", "2026-12-06", "--office", "customs", "--works"];
  await refused(/only banks/, ...works, "--name", "Sunday");
  const audit = await askJournal(
    service.ctx.db.pool,
    "select action, actor_id from audit_records where action like 'calendar.%' order by seq",
  );
  assert.deepEqual(
    audit.rows.map(({ action }) => action),
    ["calendar.add", "calendar.remove", "calendar.import", "calendar.import"],
  );
  assert.equal(audit.rows[0].actor_id, "asha");
});

test("a deal whose deadline became a holiday fails at the end of the next working day", async (t) => {
  const { service, bring } = await openBankOffice(t);
  const buyer = await openTestDesk(service, environment);
  const dealtAt = service.clock.now();
  const due = new Date(await readDueOfNewDeal(service, buyer));
  const given = { office: "bank", day: istDay(due), name: "Declared", works: "" };
  await addDay(service.ctx, namedOperator("asha"), given);
  const stateAt = async (instant: Date) => {
    service.clock.set(instant);
    await service.work();
    const { body } = await service.send("GET", "/v1/settlements", { key: buyer.key });
    return body.settlements[0].status;
  };
  const calendar = await readCalendar(service.ctx.db);
  const extended = addWorkingDays(dealtAt, 1, "bank", calendar);
  assert.ok(extended > due);
  assert.equal(await stateAt(due), "pending");
  assert.equal(await stateAt(new Date(extended.getTime() - 1)), "pending");
  // What came in until then was read; a line of the next day says that there is no more.
  const [year, month, day] = addDays(istDay(extended), 1).split("-");
  const charges = { utr: nextUtr(), text: "CHARGES", paise: -590 };
  service.clock.set(new Date(extended.getTime() + dayMs));
  await bring([charges], { day: `${day}/${month}/${year}` });
  assert.equal(await stateAt(service.clock.now()), "failed");
});
