import { dropMonths, listMonths } from "../src/retention/partitions.ts";
import { monthlyTables } from "../src/retention/rules.ts";
import { command, print, UsageError } from "./command.ts";
import { operatorOption, withOperator } from "./operators.ts";

const list = command({
  name: "retention list",
  summary: "list the months of what is kept by the month, their size, and which may be dropped",
  options: {},
  async run(options) {
    print(
      await withOperator(options, { permission: "read" }, async ({ ctx }) => await listMonths(ctx)),
      options,
    );
  },
});

const drop = command({
  name: "retention drop",
  summary: "drop the months of a table before one, for good",
  options: {
    table: { required: true, help: monthlyTables.map(({ name }) => name).join(" or ") },
    before: { required: true, help: "month, such as 2026-04: this one and later ones are kept" },
    "dry-run": { type: "boolean", help: "say what would go, and drop nothing" },
    ...operatorOption,
  },
  example: "npx scripdesk retention drop --table delivered_blocks --before 2026-04 --dry-run",
  async run(options) {
    const table = monthlyTables.find(({ name }) => name === options.table);
    if (!table)
      throw new UsageError(`--table must be ${monthlyTables.map(({ name }) => name).join(" or ")}`);
    if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(options.before)) {
      throw new UsageError("--before must be a month such as 2026-04");
    }
    const dryRun = options["dry-run"];
    const dropped = await withOperator(
      options,
      { permission: "retention.write", named: true },
      async ({ ctx, actor }) =>
        await dropMonths(ctx, { table, before: options.before, dryRun }, actor, (one) =>
          process.stderr.write(
            `${one.partition}: ${one.rows} rows ${dryRun ? "would go" : "gone"}\n`,
          ),
        ),
    );
    print(dropped, options);
  },
});

export const commands = [list, drop];
