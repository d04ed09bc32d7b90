import { environments } from "../src/kernel/caller.ts";
import { istTimestamp } from "../src/kernel/time.ts";
import { findAnything } from "../src/overview/find-anything.ts";
import { showToday } from "../src/overview/today.ts";
import { command, parseChoice, print, printOne } from "./command.ts";
import { withOperator } from "./operators.ts";

const find = command({
  name: "find",
  summary: "find a thing by its id, an IEC, a PAN, a name, a scrip number or a UTR",
  operand: "ANYTHING",
  options: {},
  example: "npx scripdesk find 'shree exports'",
  async run(options, text) {
    // A sandbox thing by its id is found by anybody; anything else may be of live.
    const reading = { permission: "read", about: [text] } as const;
    const found = await withOperator(options, reading, ({ ctx }) => findAnything(ctx, text));
    const rows = found.map(({ environment, ...row }) => ({ ...row, env: environment }));
    if (options.json) return print(rows, options);
    const names = Object.fromEntries(
      found.flatMap((row) => [
        [row.desk_id ?? "", row.desk_name ?? "-"],
        [row.firm_id ?? "", row.firm_name ?? "-"],
      ]),
    );
    print(
      rows.map(({ desk_name: _desk, firm_name: _firm, id, ...row }) => ({ ...row, id })),
      { json: false, names },
    );
    return found.length === 0 ? 1 : 0;
  },
});

const today = command({
  name: "today",
  summary: "show what waits for somebody, and how the day stands",
  options: { env: { default: "live", help: "live or sandbox" } },
  async run(options) {
    const environment = parseChoice("env", options.env, environments);
    const reading = { permission: "read", environment } as const;
    const shown = await withOperator(options, reading, ({ ctx }) => showToday(ctx, environment));
    const { waiting, schemes, as_of, ...rest } = shown;
    if (options.json)
      return printOne({ ...rest, as_of: istTimestamp(as_of), waiting, schemes }, options);
    printOne({ ...rest, as_of: istTimestamp(as_of) }, options);
    process.stdout.write("\nwaiting\n");
    const rows = Object.entries(waiting).filter(([, count]) => count > 0);
    print(
      rows.map(([what, count]) => ({ what: what.replaceAll("_", " "), count })),
      options,
    );
    process.stdout.write("\n");
    print(schemes, options);
    return undefined;
  },
});

export const overviewCommands = [today, find];
