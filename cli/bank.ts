import { readFile } from "node:fs/promises";

import {
  importStatement,
  type LineResult,
  previewStatement,
} from "../src/bankbook/import-statement.ts";
import { genericStatement, parseStatementFormat } from "../src/bankbook/read-statement.ts";
import { lineReasons, type LineReason } from "../src/bankbook/rules.ts";
import { findStatementForm } from "../src/bankforms/forms.ts";
import { readConfig } from "../src/config.ts";
import { rupeesText } from "../src/kernel/money.ts";
import { bankOperations } from "../src/ops/bank.ts";
import type { Db } from "../src/platform/postgres/postgres.ts";
import { isWorkbook } from "../src/platform/sheets/read-xlsx.ts";
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
    format: {
      default: genericStatement.name,
      help: "generic, a saved form's name, or a JSON file with the headings",
    },
    preview: { type: "boolean", help: "show what it would do, and import nothing" },
    ...operatorOption,
  },
  example: "npx scripdesk bank import statement-2026-11-15.csv",
  async run(options, path) {
    const { format: given } = options;
    const ofFile = given.endsWith(".json")
      ? parseStatementFormat(await jsonFile("format", given))
      : undefined;
    const bytes = await readFile(path).catch((error: Error) => {
      throw new UsageError(`the statement cannot be read: ${error.message}`);
    });
    const text = isWorkbook(bytes) ? bytes : bytes.toString();
    const { twoOperatorsFromPaise: twoFromPaise } = readConfig(process.env);
    const readAsked = async ({ db }: { readonly db: Db }) => {
      const format = ofFile ?? (await findStatementForm(db, given));
      return { environment, text, format, twoFromPaise } as const;
    };
    if (options.preview) {
      const previewed = await withOperator(options, writing, async ({ ctx, actor }) =>
        previewStatement(ctx, actor, await readAsked(ctx)),
      );
      if (options.json) return printOne(previewed, options);
      const { results, ...rest } = previewed;
      printOne(rest, options);
      return print(results.map(toShownResult), options);
    }
    const imported = await withOperator(options, writing, async ({ ctx, actor }) =>
      importStatement(ctx, actor, await readAsked(ctx)),
    );
    if (options.json) return printOne(imported, options);
    const { results, reconciled: _reconciled, ...rest } = imported;
    printOne(rest, options);
    print(results.map(toShownResult), options);
  },
});

/** Why each line went where it went, in words. */
function toShownResult(result: Omit<LineResult, "line_id">) {
  const { ordinal, day, direction, paise, status, reason, ...line } = result;
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
  derive("listStatementForms", "bank forms list", {
    columns: "name saved_by saved_at version",
  }),
  derive("saveStatementForm", "bank forms save", {
    word: false,
    columns: "name version saved_by",
    example:
      "npx scripdesk bank forms save --name first-bank --day 'Txn Date' --reference Ref --narration Particulars --amount Amount --sign debit_is_negative",
  }),
  derive("removeStatementForm", "bank forms remove", { view: echo("name") }),
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
  derive("readBankLine", "bank lines show"),
  derive("undoBankAssignment", "bank lines undo", deciding),
  derive("assignBankLine", "bank queue assign", deciding),
  derive("returnBankLine", "bank queue return", deciding),
  derive("repeatBankLine", "bank queue repeat", deciding),
];
