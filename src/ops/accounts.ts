// The month's pack for the accountant, like the command `accounts pack`.

import { Type } from "typebox";

import { makeMonthPack } from "../accounts/month-pack.ts";
import { type Operation, operation } from "../platform/http/operation.ts";
import { environment, query, under } from "./operation.ts";
import { flag, sum, text } from "./schema.ts";

const accounts = under("Accounts");

const MonthPack = Type.Object(
  {
    name: text("The file's name."),
    content: Type.String({
      contentMediaType: "application/zip",
      contentEncoding: "base64",
      description: "The archive, in base64.",
    }),
    ties: Type.Array(
      Type.Object({
        total: text("Which total of the registers."),
        register_paise: sum("What the registers have."),
        ledger_paise: sum("What was posted in the month."),
        ties: flag("Whether these are the same."),
      }),
      { description: "Each total beside the ledger. Do not file where one does not tie." },
    ),
  },
  { title: "MonthPack", description: "The accounts of a month, as one archive." },
);

export const accountOperations: readonly Operation[] = [
  operation({
    ...accounts.read("readMonthPack", "/ops/accounts/:period/pack"),
    summary: "Make the pack of a month (YYYY-MM) for the accountant",
    description:
      "Registers of sales, purchases, fees and deductions, bank and house ledgers and balances as " +
      "workbooks, a draft of GSTR-1, vouchers for Tally, and the ties of every total to the ledger.",
    query: query({ environment }),
    answer: MonthPack,
    run: async ({ ctx }, asked) => {
      const { name, content, ties } = await makeMonthPack(ctx, asked);
      return { name, content: content.toString("base64"), ties };
    },
  }),
];
