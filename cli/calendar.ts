import { readFile } from "node:fs/promises";

import { addDay, importDays, listCalendar, removeDay } from "../src/outside/calendar.ts";
import { offices } from "../src/kernel/working-days.ts";
import { command, parseChoice, print, printOne, UsageError, wholeNumber } from "./command.ts";
import { readRows } from "./csv.ts";
import { operatorOption, withOperator } from "./operators.ts";

const writing = { permission: "calendar.write" } as const;

const list = command({
  name: "calendar list",
  summary: "list the days on which banks and customs differ from the week",
  options: {
    office: { help: offices.join(" or ") },
    year: { help: "only this year" },
  },
  async run(options) {
    const search = {
      office: options.office === undefined ? null : parseChoice("office", options.office, offices),
      year: options.year === undefined ? null : wholeNumber("year", options.year),
    };
    const days = await withOperator(
      options,
      { permission: "read" },
      async ({ ctx }) => await listCalendar(ctx, search),
    );
    print(
      days.map(({ day, office, works, name, status }) => ({ day, office, works, name, status })),
      options,
    );
  },
});

const importFile = command({
  name: "calendar import",
  summary: "take over a list of holidays; starting rows of its years that it lacks go",
  operand: "FILE.csv",
  options: operatorOption,
  example: "npx scripdesk calendar import holidays-2027.csv  # office,day,name[,works]",
  async run(options, file) {
    const text = await readFile(file, "utf8").catch((error: Error) => {
      throw new UsageError(`${file} cannot be read: ${error.message}`);
    });
    const rows = await readRows(text, ["office", "day", "name"]);
    const days = rows.map(({ cells }) => ({
      office: cells["office"] ?? "",
      day: cells["day"] ?? "",
      name: cells["name"] ?? "",
      works: cells["works"] ?? "",
    }));
    const done = await withOperator(
      options,
      writing,
      async ({ ctx, actor }) => await importDays(ctx, actor, days),
    );
    printOne(done, options);
  },
});

const add = command({
  name: "calendar add",
  summary: "add or confirm one day: a holiday, or with --works a day on which banks work",
  operand: "DAY",
  options: {
    office: { required: true, help: offices.join(" or ") },
    name: { required: true, help: "what the day is" },
    works: { type: "boolean", help: "the banks work on it although it is none of their days" },
    ...operatorOption,
  },
  example: 'npx scripdesk calendar add 2026-12-07 --office bank --name "Declared by the state"',
  async run(options, day) {
    const { office, name } = options;
    const given = { office, day, name, works: options.works ? "yes" : "no" };
    await withOperator(options, writing, async ({ ctx, actor }) => await addDay(ctx, actor, given));
    printOne({ day, office, works: options.works, name, status: "confirmed" }, options);
  },
});

const remove = command({
  name: "calendar remove",
  summary: "remove one day, which then is what the week says",
  operand: "DAY",
  options: { office: { required: true, help: offices.join(" or ") }, ...operatorOption },
  async run(options, day) {
    const office = parseChoice("office", options.office, offices);
    await withOperator(
      options,
      writing,
      async ({ ctx, actor }) => await removeDay(ctx, actor, { office, day }),
    );
    printOne({ day, office, removed: true }, options);
  },
});

export const calendarCommands = [list, importFile, add, remove];
