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
  sum,
  text,
  wrapList,
} from "./schema.ts";

export const TaxRate = Type.Object(
  {
    environment,
    line: openEnum(taxLines, "Which tax; rails are the limits of the banks' rails."),
    effective_from: day("The first day of it."),
    is_on: flag("Whether the line is in force from that day; else it ended."),
    cgst_bps: maybeCount("The central part within the house's state."),
    sgst_bps: maybeCount("The state's part of it."),
    igst_bps: maybeCount("The whole across a border."),
    house_state: maybeText("The house's state code."),
    act: maybeText("The year of the Income-tax Act."),
    section: maybeText("The citation within it."),
    payment_code: maybeText("What the return calls such payments."),
    rate_bps: maybeCount("What is withheld, of the value."),
    threshold_paise: maybeCount("From which value of a seller in a financial year."),
    with_crosses: Type.Unsafe<boolean | null>({
      type: ["boolean", "null"],
      description: "Whether in crosses too.",
    }),
    hsn: maybeText("The heading of scrips in the tariff."),
    exemption: maybeText("The citation by which their supply is exempt."),
    sac: maybeText("The code of the house's service."),
    gst_bps: maybeCount("All GST on its fee."),
    rtgs_from_paise: maybeCount("RTGS takes nothing below it."),
    imps_to_paise: maybeCount("IMPS takes nothing above it."),
    citation: maybeText("By which rule the rails take these amounts."),
    confirmed_by: maybeText(
      "Who set it or found it right; null for what came with the program and has to be checked.",
    ),
  },
  {
    title: "TaxRate",
    description: "A line of the law from a day on; fields of other lines are null.",
  },
);

export const Certificate = Type.Object(
  {
    environment,
    certificate_no: text("The certificate's number."),
    pan: text("The payee's PAN."),
    rate_bps: count("What is withheld in the place of the line's rate."),
    limit_paise: count("Up to which value it counts."),
    used_paise: count("The value that was withheld from by it."),
    effective_from: day("The first day that it counts."),
    effective_until: day("The last day that it counts."),
    set_by: text("Who entered it."),
    set_at: timestamp("When."),
  },
  { title: "TdsCertificate", description: "By which less is withheld from a payee." },
);

export const Certificates = wrapList("certificates", Certificate, "Those that end last first.");

export const Deductions = wrapList(
  "deductions",
  Type.Object(
    {
      pan: maybeText("The payee's PAN; null where it gave none."),
      legal_name: text("The payee's legal name."),
      tds_act: maybeText("The year of the Act."),
      tds_section: maybeText("The citation within it."),
      tds_code: maybeText("What the return calls such payments."),
      base_paise: sum("The value that was withheld from, less what was reversed."),
      tds_paise: sum("What was withheld of it."),
    },
    { title: "Deduction", description: "What was withheld from one PAN under one citation." },
  ),
  "By PAN and citation.",
);

const houseStateName = maybeText("The state that the house's code stands for.");

export const TaxRates = wrapList(
  "rates",
  Type.Object(
    { ...TaxRate.properties, house_state_name: houseStateName },
    {
      title: "ListedTaxRate",
      description: "A line of the law with the name of the house's state.",
    },
  ),
  "The latest of each line first.",
);

export const Invoices = pageList(
  "invoices",
  Type.Object(
    {
      environment,
      kind: openEnum(documentKinds, "The kind of line."),
      financial_year: text("Whose series it is in, such as 2026-27."),
      number: count("Its place in the series, from 1 and without a gap."),
      invoice_no: text("The number as it is printed."),
      issued_at: timestamp("When."),
      firm_id: text("The id of the firm that is charged."),
      settlement_id: text("For which settlement."),
      side: openEnum(sides, "Which side of it the firm was."),
      recipient_name: maybeText("The firm's name at the time; null from before it was kept."),
      recipient_gstin: maybeText("Its GSTIN at the time; null where it had none."),
      sac: maybeText("The code of the service; null on papers from before it was kept."),
      place_of_supply: text("The firm's state code."),
      fee_paise: count("The fee before tax, in paise."),
      cgst_paise: count("Central tax (CGST) in paise."),
      sgst_paise: count("State tax (SGST) in paise."),
      igst_paise: count("Integrated tax (IGST) in paise."),
    },
    { title: "FeeInvoice", description: "A fee invoice or credit note." },
  ),
  "The newest first.",
);
