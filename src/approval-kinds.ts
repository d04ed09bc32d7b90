// Every kind of act that takes two people, so that a proposal can be carried out by its kind.

import type { ApprovalKind } from "./approvals/kind.ts";
import { lineAssignment, lineReturn } from "./bankbook/decide-line.ts";
import { dealFunding } from "./bankbook/fund-deal.ts";
import { bankImport } from "./bankbook/import-statement.ts";
import { commissionPayment } from "./commissions/pay-out-commission.ts";
import { inventoryAddition } from "./credits/propose-inventory.ts";
import { depositAddition } from "./deposits/add-deposit.ts";
import { attestation } from "./inquiries/attest-with-approval.ts";
import { operatorAddition, operatorReset } from "./operators/add-operator.ts";
import { payoutFileMaking } from "./payfiles/make-files.ts";
import { payoutFileVoiding } from "./payfiles/void-file.ts";
import { payoutRelease, payoutSending } from "./payouts/send-payout.ts";
import { cardPublication } from "./rates/publish-with-approval.ts";
import { settlementReversal } from "./settlement/reverse-settlement.ts";
import { appliers } from "./workers.ts";

export const attesting = attestation(appliers);

export const approvalKinds: readonly ApprovalKind[] = [
  settlementReversal,
  payoutRelease,
  payoutSending,
  payoutFileMaking,
  payoutFileVoiding,
  bankImport,
  lineAssignment,
  lineReturn,
  dealFunding,
  commissionPayment,
  depositAddition,
  inventoryAddition,
  attesting,
  cardPublication,
  operatorAddition,
  operatorReset,
];
