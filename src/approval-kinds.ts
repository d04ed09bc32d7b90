// Every kind of act that takes two people, so that a proposal can be carried out by its kind.

import type { ApprovalKind } from "./approvals/kind.ts";
import { commissionPayment } from "./commissions/pay-out-commission.ts";
import { operatorAddition, operatorReset } from "./operators/add-operator.ts";
import { payoutFileMaking } from "./payfiles/make-files.ts";
import { payoutFileVoiding } from "./payfiles/void-file.ts";
import { payoutSending } from "./payouts/send-payout.ts";
import { settlementReversal } from "./settlement/reverse-settlement.ts";

export const approvalKinds: readonly ApprovalKind[] = [
  settlementReversal,
  payoutSending,
  payoutFileMaking,
  payoutFileVoiding,
  commissionPayment,
  operatorAddition,
  operatorReset,
];
