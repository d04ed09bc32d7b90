import { Type } from "typebox";

import { sides } from "../kernel/scheme.ts";
import { openEnum, timestamp } from "../platform/http/wire.ts";
import { documentKinds, taxLines } from "../taxes/tax-rules.ts";
import {
  count,
  day,
  environment,
  flag,
  maybeCount,
  maybeText,
  pageList,
  text,
  wrapList,
} from "./schema.ts";

export const TaxRate = Type.Object(
  {
    environment,
    line: openEnum(taxLines, "Which tax."),
    effective_from: day("The first day of it."),
    is_on: flag("Whether the line is in force from that day; else it ended."),
    cgst_bps: maybeCount("The central part within the house's state."),
    sgst_bps: maybeCount("The state's part of it."),
    igst_bps: maybeCount("The whole across a border."),
    house_state: maybeText("The house's state code."),
    section: maybeText("The section of the law."),
    rate_bps: maybeCount("What is withheld, of the value."),
    threshold_paise: maybeCount("From which value of a seller in a financial year."),
    with_crosses: Type.Unsafe<boolean | null>({
      type: ["boolean", "null"],
      description: "Whether in crosses too.",
    }),
  },
  { title: "TaxRate", description: "A tax line from a day on; fields of the other line are null." },
);

export const TaxRates = wrapList("rates", TaxRate, "The latest of each line first.");

export const Invoices = pageList(
  "invoices",
  Type.Object(
    {
      environment,
      kind: openEnum(documentKinds, "What it is."),
      financial_year: text("Whose series it is in, such as 2026-27."),
      number: count("Its place in the series, from 1 and without a gap."),
      invoice_no: text("The number as it is printed."),
      issued_at: timestamp("When."),
      firm_id: text("Who is charged."),
      settlement_id: text("For which settlement."),
      side: openEnum(sides, "Which side of it the firm was."),
      place_of_supply: text("The firm's state code."),
      fee_paise: count("The fee before tax."),
      cgst_paise: count("Central tax."),
      sgst_paise: count("The state's tax."),
      igst_paise: count("Integrated tax."),
    },
    { title: "FeeInvoice", description: "A fee invoice or credit note." },
  ),
  "The newest first.",
);
