import { readFile } from "node:fs/promises";

import { importStatement, type LineResult } from "../src/bankbook/import-statement.ts";
import { genericStatement, parseStatementFormat } from "../src/bankbook/read-statement.ts";
import { lineReasons, type LineReason } from "../src/bankbook/rules.ts";
import { readConfig } from "../src/config.ts";
import { rupeesText } from "../src/kernel/money.ts";
import { bankOperations } from "../src/ops/bank.ts";
import { command, print, printOne, UsageError } from "./command.ts";
import { deriveFrom, echo, pick } from "./derived.ts";
import { operatorOption, withOperator } from "./operators.ts";
import { jsonFile } from "./payouts.ts";

const derive = deriveFrom(bankOperations);
const environment = "live";
const writing = { permission: "bank.write", environment, named: true } as const;
const deciding = { view: echo("line_id"), act: { named: true } } as const;

const importFile = command({
  name: "bank import",
  summary:
    "import the bank's statement: payouts are answered, money in is matched, the rest queued",
  operand: "FILE",
  options: {
    format: { default: genericStatement.name, help: "generic, or a JSON file with the headings" },
    ...operatorOption,
  },
  example: "npx scripdesk bank import statement-2026-11-15.csv",
  async run(options, path) {
    const { format: given } = options;
    const format =
      given === genericStatement.name
        ? genericStatement
        : parseStatementFormat(await jsonFile("format", given));
    const text = await readFile(path, "utf8").catch((error: Error) => {
      throw new UsageError(`the statement cannot be read: ${error.message}`);
    });
    const { twoOperatorsFromPaise: twoFromPaise } = readConfig(process.env);
    const imported = await withOperator(options, writing, ({ ctx, actor }) =>
      importStatement(ctx, actor, { environment, text, format, twoFromPaise }),
    );
    if (options.json) return printOne(imported, options);
    const { results, reconciled: _reconciled, ...rest } = imported;
    printOne(rest, options);
    print(results.map(toShownResult), options);
  },
});

/** Why each line went where it went, in words. */
function toShownResult({ ordinal, day, direction, paise, status, reason, ...line }: LineResult) {
  return {
    line: ordinal,
    day,
    rupees: rupeesText(direction === "credit" ? paise : -paise),
    status,
    reason,
    firm_id: line.firm_id ?? "",
    why: lineReasons[reason as LineReason] ?? reason,
  };
}

export const commands = [
  importFile,
  derive("reconcileBank", "bank reconcile", {
    fails: ({ unexplained_paise: left }) => left !== 0 && left !== null,
  }),
  derive("listBankQueue", "bank queue list", {
    view: (row) => ({
      ...pick(
        row,
        "line_id day direction paise=amount_paise utr state=status reason repeats_line_id remitter_name remitter_account_masked narration",
      ),
      rupees: rupeesText(row["amount_paise"] as number), // By its schema.
    }),
  }),
  derive("assignBankLine", "bank queue assign", deciding),
  derive("returnBankLine", "bank queue return", deciding),
  derive("repeatBankLine", "bank queue repeat", deciding),
];
