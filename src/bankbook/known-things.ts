import { awaitedPayments, buyersOfCrosses } from "../crosses/fund-received.ts";
import { firmsAsRemitters } from "../firms/accounts-to-pay.ts";
import type { Environment } from "../kernel/caller.ts";
import { isId } from "../kernel/ids.ts";
import { linesByReference } from "../payfiles/answer-lines.ts";
import { remittancesByUtr } from "../payouts/answer-remittances.ts";
import type { Context } from "../platform/context.ts";
import { buyersOfSettlements } from "../settlement/fund-received.ts";
import {
  type KnownRemittance,
  type KnownTarget,
  type KnownThings,
  mentionsIn,
  paymentNameMin,
  type StatementLine,
} from "./rules.ts";
import { listReturning } from "./store.ts";

/** Whatever exists of what these lines mention. */
export async function knownThings(
  { db, sealKey }: Pick<Context, "db" | "sealKey">,
  environment: Environment,
  lines: readonly StatementLine[],
): Promise<KnownThings> {
  const mentions = lines.map(mentionsIn);
  const all = (field: "remittances" | "ids" | "utrs") => [
    ...new Set(mentions.flatMap((each) => each[field])),
  ];
  const inFiles = await linesByReference(db, all("remittances"));
  const remittances = new Map(
    [...inFiles].map(([reference, line]): [string, KnownRemittance] => [
      reference,
      {
        leadId: line.lead_id,
        fileId: line.file_id,
        paise: line.paise,
        isVoid: line.state === "voided",
      },
    ]),
  );
  const byUtr = new Map(
    [...(await remittancesByUtr(db, environment, all("utrs")))].map(
      ([utr, { leadId, paise }]): [string, KnownRemittance] => {
        const inFile = [...remittances.values()].find((each) => each.leadId === leadId);
        return [utr, { leadId, paise, fileId: inFile?.fileId ?? null, isVoid: false }];
      },
    ),
  );
  const returning = new Map(
    (await listReturning(db, environment)).map(({ back_utr, line_id, paise }) => [
      back_utr ?? "",
      { lineId: line_id, paise },
    ]),
  );
  const targets = await targetsOf(db, all("ids"));
  const payments = (await awaitedPayments(db, environment))
    .filter(({ payment_ref }) => payment_ref.length >= paymentNameMin)
    .map(({ cross_id, buyer_firm_id, payment_ref }) => ({
      name: payment_ref,
      target: { firmId: buyer_firm_id, dealId: cross_id },
    }));
  const named = [...targets.values(), ...payments.map(({ target }) => target)];
  const firms = await firmsAsRemitters(
    db,
    [...new Set(named.map(({ firmId }) => firmId))],
    sealKey,
  );
  const isHere = ({ firmId }: KnownTarget) => firms.get(firmId)?.environment === environment;
  return {
    remittances,
    byUtr,
    returning,
    targets: new Map([...targets].filter(([, target]) => isHere(target))),
    payments: payments.filter(({ target }) => isHere(target)),
    remitters: firms,
  };
}

async function targetsOf(
  db: Context["db"],
  ids: readonly string[],
): Promise<Map<string, KnownTarget>> {
  const ofKind = (prefix: "stl" | "crs" | "frm") => ids.filter((id) => isId(prefix, id));
  const buyers = [
    ...(await buyersOfSettlements(db, ofKind("stl"))),
    ...(await buyersOfCrosses(db, ofKind("crs"))),
  ];
  return new Map([
    ...ofKind("frm").map((firmId): [string, KnownTarget] => [firmId, { firmId, dealId: null }]),
    ...buyers.map(([dealId, firmId]): [string, KnownTarget] => [dealId, { firmId, dealId }]),
  ]);
}
