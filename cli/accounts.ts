import { writeFile } from "node:fs/promises";

import { makeMonthPack } from "../src/accounts/month-pack.ts";
import { environments } from "../src/kernel/caller.ts";
import { onThisThread } from "../src/platform/heavy/kinds.ts";
import { command, parseChoice, print, printOne } from "./command.ts";
import { withOperator } from "./operators.ts";
import { writeToOut } from "./out-file.ts";

/** A process of its own has the memory. */
const postingsMax = 1_000_000;

const pack = command({
  name: "accounts pack",
  summary: "write the month's accounts for the accountant as one archive, tied to the ledger",
  options: {
    env: { required: true, help: "live or sandbox" },
    period: { required: true, help: "the month, YYYY-MM, in IST" },
    out: { required: true, help: "the file to make, .zip" },
  },
  example: "npx scripdesk accounts pack --env live --period 2026-11 --out accounts-2026-11.zip",
  async run(options) {
    const environment = parseChoice("env", options.env, environments);
    const made = await withOperator(options, { permission: "read", environment }, ({ ctx }) =>
      makeMonthPack(
        { ...ctx, heavy: onThisThread },
        { environment, period: options.period, postingsMax },
      ),
    );
    await writeToOut(() => writeFile(options.out, made.content, { mode: 0o600, flag: "wx" }));
    const loose = made.ties.filter(({ ties }) => !ties);
    if (loose.length > 0) print(loose, options);
    const [file, period] = [options.out, options.period];
    printOne({ file, period, totals: made.ties.length, loose: loose.length }, options);
    return loose.length === 0 ? undefined : 1;
  },
});

export const commands = [pack];
