// Every kind of act that needs two operators. An approved proposal is carried out by its kind. With
// them goes what else operations of operators are given.

import type { Config } from "./config.ts";
import { onLost, settlementHooks } from "./hooks.ts";
import type { ApprovalKind } from "./operators/approval-kind.ts";
import type { OpsWiring } from "./ops/operation.ts";
import { lineAssignment, lineRepetition, lineReturn } from "./bankbook/decide-line.ts";
import { assignmentUndoing } from "./bankbook/undo-assignment.ts";
import { dealFunding } from "./bankbook/fund-deal.ts";
import { bankImport } from "./bankbook/import-statement.ts";
import { payingAccountAddition } from "./bankbook/paying-account.ts";
import { depositReversal } from "./bankbook/reverse-deposit.ts";
import { commissionPayment } from "./settlement/commissions.ts";
import { inventoryAddition } from "./credits/inventory.ts";
import { depositAddition } from "./payouts/deposits.ts";
import { buildAttestationKind } from "./outside/attest.ts";
import { operatorAddition, operatorGrant, operatorReset } from "./operators/manage-operators.ts";
import { machineAddition } from "./operators/machines.ts";
import { readHousePapers } from "./platform/pages/house-papers.ts";
import { payoutFileMaking } from "./payouts/make-files.ts";
import { payoutFileVoiding } from "./payouts/answer-files.ts";
import { payoutRelease, payoutSending } from "./payouts/send-payout.ts";
import { cardPublication } from "./rates/publish-card.ts";
import { readTransferSteps } from "./settlement/advance-settlements.ts";
import { refundReturn, settlementReversal } from "./settlement/reverse-settlement.ts";
import { suspendFirmsOfHouse } from "./firms/change-firm.ts";
import { formSetting } from "./funding/virtual-accounts.ts";
import { buildHouseKind } from "./house/set-house.ts";
import { appliers } from "./workers.ts";

export const attesting = buildAttestationKind(appliers, readTransferSteps);

export const houseSetting = buildHouseKind(suspendFirmsOfHouse);

export const approvalKinds: readonly ApprovalKind[] = [
  settlementReversal,
  refundReturn,
  payoutRelease,
  payoutSending,
  payoutFileMaking,
  payoutFileVoiding,
  bankImport,
  lineAssignment,
  assignmentUndoing,
  lineReturn,
  lineRepetition,
  payingAccountAddition,
  dealFunding,
  commissionPayment,
  depositAddition,
  depositReversal,
  inventoryAddition,
  attesting,
  cardPublication,
  houseSetting,
  formSetting,
  operatorAddition,
  operatorReset,
  operatorGrant,
  machineAddition,
];

/** What operations of operators are given, on their listener and by the command line. */
export function wireOps({
  letterhead,
  twoOperatorsFromPaise: twoFromPaise,
  twoOperatorsFromBps: twoFromBps,
  smtp,
  imprint,
  houseDir,
}: Pick<
  Config,
  "letterhead" | "twoOperatorsFromPaise" | "twoOperatorsFromBps" | "smtp" | "imprint" | "houseDir"
>): Omit<OpsWiring, "boards"> {
  const sendsNotices = smtp !== undefined;
  return {
    kinds: approvalKinds,
    attesting,
    houseSetting,
    settlementHooks,
    onLost,
    letterhead,
    twoFromPaise,
    twoFromBps,
    readSettings: async () => ({
      imprint,
      papers: await readHousePapers(houseDir),
      sendsNotices,
    }),
    sendsNotices,
  };
}
