// `orders …`, `settlements …`, `crosses …`, and the money that firms pay in for them: `deposits …`.

import { findWaitingOn } from "../src/crosses/rules.ts";
import { utrForm } from "../src/kernel/ids.ts";
import { ledgerReportOperations } from "../src/ops/attest.ts";
import { lookupOperations } from "../src/ops/lookups.ts";
import { confirmTransfers, fundDeals, moneyOperations } from "../src/ops/money.ts";
import { listDepositsForSettlement } from "../src/payouts/deposits.ts";
import { toWire } from "../src/platform/http/serialization.ts";
import { isWorkbook } from "../src/platform/sheets/read-xlsx.ts";
import { followSettlement } from "../src/settlement/read-settlements.ts";
import { findAwaitedParty } from "../src/settlement/rules.ts";
import { command, printOne, UsageError } from "./command.ts";
import { deriveFrom, echo, type Fields, pick, sumUp, viewAttested } from "./derived.ts";
import { withOperator } from "./operators.ts";
import { readBytes } from "./report-file.ts";

const derive = deriveFrom([...lookupOperations, ...moneyOperations, ...ledgerReportOperations]);

/** What the command reads from files. */
function readReportFields(values: Readonly<Record<string, string | boolean | undefined>>): Fields {
  const bytes = readBytes("file", String(values["file"]));
  const form = values["form-file"];
  return {
    csv: isWorkbook(bytes) ? undefined : bytes.toString(),
    xlsx: isWorkbook(bytes) ? bytes.toString("base64") : undefined,
    form: typeof form === "string" ? parseForm(form) : undefined,
  };
}

function parseForm(path: string): unknown {
  try {
    return JSON.parse(readBytes("form-file", path).toString());
  } catch {
    throw new UsageError("--form-file must be JSON");
  }
}

const showSettlement = command({
  name: "settlements show",
  summary: "read a settlement with both sides of its legs, and what each side has to do",
  operand: "SETTLEMENT_ID",
  options: {},
  async run(options, settlementId) {
    const act = { permission: "read", about: [settlementId] } as const;
    const shown = await withOperator(options, act, async ({ ctx }) => {
      const settlement = await followSettlement(ctx, settlementId);
      // What has come of the buyer's money, the whole of it or a part.
      const deposits = await listDepositsForSettlement(ctx.db, settlementId);
      return {
        ...settlement,
        deposits: deposits.map(({ reference, paise, at }) => ({ reference, paise, at })),
      };
    });
    printOne(toWire(shown) as Fields, options);
  },
});

const funding = {
  set: fundDeals,
  /** The bank's reference, unless the money does not come. */
  complete(input: Fields) {
    const { missing, reference } = input;
    if (missing || utrForm.test(String(reference))) return input;
    throw new UsageError("--reference must be the bank's: 12 to 22 capitals and digits");
  },
  view: (answer: Fields, { input }: { readonly input: Fields }) =>
    input["amount_paise"] === undefined
      ? viewAttested(answer)
      : { ...pick(input, "settlement_id cross_id paise=amount_paise"), ...answer },
} as const;

type States = Parameters<typeof findAwaitedParty>;

export const commands = [
  derive("listAllOrders", "orders list", {
    columns:
      "order_id env desk_id firm_id side scheme status asked_paise=face_paise|requirement_paise covered_paise price_bps all_in_paise settlement_id settlement_status created_at",
    example: "npx scripdesk orders list --env live --status open",
  }),
  derive("readAnyOrder", "orders show", { names: "desk_id firm_id" }),
  derive("cancelAnyOrder", "orders cancel", {
    csv: "order_id",
    columns: "order_id status covered_paise",
  }),
  derive("listAllSettlements", "settlements list", {
    view({ status, legs, ...row }) {
      const parts = (legs as readonly Fields[]).map((leg) => ({ state: leg["status"] }));
      const waiting_on = findAwaitedParty(status as States[0], parts as States[1]); // By the schema.
      const scrip_nos = (legs as readonly Fields[]).map((leg) => leg["scrip_no"]);
      const shown =
        "settlement_id env status waiting_on due_at buyer_firm_id buyer_paise scrip_nos";
      return pick({ ...row, status, waiting_on, scrip_nos }, shown);
    },
  }),
  showSettlement,
  derive("fundSettlement", "settlements fund", {
    csv: "settlement_id reference",
    ...funding,
    example: "npx scripdesk settlements fund stl_… --reference HDFCR52026111500012345",
  }),
  derive("markInitiated", "settlements initiated", {
    example: "npx scripdesk settlements initiated stl_… --reference ICEGATE-7780",
  }),
  derive("confirmTransfer", "settlements confirm-transfer", {
    csv: "settlement_id scrip_no outcome reference",
    defaults: { outcome: "transferred" },
    set: confirmTransfers,
    view: viewAttested,
    example: "npx scripdesk settlements confirm-transfer stl_… --reference ICEGATE-7781",
  }),
  derive("failSettlement", "settlements fail", {
    csv: "settlement_id reference",
    sum: sumUp("failed", "approval_ids"),
    example: "npx scripdesk settlements fail stl_… --reference ICEGATE-7782",
  }),
  derive("reverseSettlement", "settlements reverse", {
    csv: "settlement_id reason",
    columns: "settlement_id outcome approval_id",
    act: { named: true },
    example: "npx scripdesk settlements reverse stl_… --reason 'forged mandate' --operator asha",
  }),
  derive("takeBackRefund", "settlements take-back", {
    view: echo("settlement_id"),
    act: { named: true },
    example:
      "npx scripdesk settlements take-back stl_… --scrip-no … --reference ICEGATE-9 --operator asha",
  }),
  derive("listUnpaidDeals", "settlements unpaid", {
    defaults: { environment: "live", limit: "500" },
  }),
  derive("liftUnpaid", "settlements lift-unpaid", {
    view: (settlement_id) => ({ settlement_id, outcome: "lifted" }),
    example: "npx scripdesk settlements lift-unpaid stl_… --reason 'their bank was shut'",
  }),
  derive("importLedgerReport", "settlements report", {
    own: {
      file: { required: true, help: "the report, CSV or .xlsx" },
      "form-file": { help: "the report's form as JSON, where it is not the one that is known" },
    },
    fixed: { csv: null, xlsx: null, form: null },
    complete: (input, values) => ({ ...input, ...readReportFields(values) }),
    example:
      "npx scripdesk settlements report --file transfers.xlsx --as-of 2026-11-17T18:00:00+05:30 --preview",
  }),
  derive("listLedgerReports", "settlements reports", {
    columns: "report_id as_of transferred refused pending absent missing known queued imported_by",
  }),
  derive("listAllCrosses", "crosses list", {
    view: (row) =>
      pick(
        { ...row, waiting_on: findNext(row) },
        "cross_id env status waiting_on due_at kind seller_iec buyer_iec face_paise buyer_paise",
      ),
  }),
  derive("readAnyCross", "crosses show", {
    view: (row) => ({ ...row, waiting_on: findNext(row) }),
  }),
  derive("fundAnyCross", "crosses fund", {
    csv: "cross_id reference",
    ...funding,
    example: "npx scripdesk crosses fund crs_… --reference HDFCR52026111500012345",
  }),
  derive("addDeposit", "deposits add", {
    csv: "firm_id paise reference",
    view: ({ outcome, approval_id = null }, { input }) => ({
      outcome,
      ...pick(input, "firm_id paise=amount_paise reference"),
      approval_id,
    }),
    example:
      "npx scripdesk deposits add --env live --firm frm_… --paise 250000000 --reference HDFCR52026111500012345",
  }),
  derive("reverseDeposit", "deposits reverse", {
    word: false,
    defaults: { environment: "live" },
    example:
      'npx scripdesk deposits reverse --reference HDFCR52026111500012345 --reason "wrong firm"',
  }),
];

function findNext({ status: state, ...row }: Fields) {
  return findWaitingOn({ ...row, state } as Parameters<typeof findWaitingOn>[0]); // By the schema.
}
