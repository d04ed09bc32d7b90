// Written by `npm run golden` from the code: the `detail.reason`s that each operation can answer with,
// by their slug. The document shows them.

import type { FailureCode } from "./kernel/failure.ts";

export type ReasonsByCode = { readonly [Code in FailureCode]?: readonly string[] };

export const reasonsByOperation: Readonly<Record<string, ReasonsByCode>> = {
  acceptCross: {
    conflict: ["counterparty_unavailable","credit_unavailable","dues_outstanding","firm_not_authorized","mandate_expired","nothing_to_deliver","terms_differ","wrong_state"],
    forbidden: ["buy_side_not_enabled","key_limit","wrong_side"],
  },
  addMember: {
    conflict: ["firm_offboarded","group_full","in_another_group"],
    forbidden: ["sub_account_key"],
  },
  advanceClock: {
    conflict: ["clock_in_use","clock_too_far"],
    forbidden: ["sub_account_key"],
  },
  advanceSettlement: {
    conflict: ["balance_moved","begun_since","credit_not_sellable","reference_used","wrong_state"],
  },
  approveAct: {
    conflict: ["account_differs","approval_voided","balance_moved","deal_unpaid","dues_outstanding","duplicate_external_id","duplicate_iec","firm_is_house","firm_not_authorized","group_full","idempotency_key_reused","in_another_group","insufficient_funds","no_bank_account","no_second_key","open_business","rules_take_two","second_key_required","wrong_state"],
    forbidden: ["key_changed_lately","key_lacks","key_limit","not_a_second_key","own_firm","sub_account_key","suspended_by_operator"],
  },
  authorizeFirm: {
    conflict: ["firm_is_house","wrong_state"],
  },
  cancelCross: {
    conflict: ["wrong_state"],
    forbidden: ["buy_side_not_enabled","wrong_side"],
  },
  cancelOrder: {
    conflict: ["wrong_state"],
  },
  coverRequirement: {
    conflict: ["bundle_gone","cancelled","cover_rests","credit_not_sellable","declared","expired","facts_changed","firm_not_authorized","funds_first","idempotency_key_reused","in_settlement","mandate_expired","no_cover","no_price","nothing_to_deliver","quote_expired","quote_used","rejected","requirement_covered","reserved","suspended","too_many_covers","too_short","transferred","unfunded_desk_limit","unfunded_limit","used","withdrawn","wrong_state"],
    forbidden: ["buy_side_not_enabled","key_limit"],
  },
  createGroup: {
    conflict: ["deleted","idempotency_key_reused","name_taken"],
    forbidden: ["sub_account_key"],
  },
  crossNetting: {
    conflict: ["counterparty_unavailable","credit_unavailable","dues_outstanding","firm_not_authorized","idempotency_key_reused","mandate_expired","netting_expired","netting_outdated","netting_used","nothing_to_cross"],
    forbidden: ["key_limit","sub_account_key"],
  },
  declareCredits: {
    conflict: ["ended","facts_differ","firm_has_no_iec","firm_offboarded","firm_state","held_elsewhere","idempotency_key_reused","not_declared","used_up","was_used","wrong_state"],
  },
  declareRequirement: {
    conflict: ["deleted","firm_offboarded","idempotency_key_reused","reference_taken"],
  },
  declineCross: {
    conflict: ["wrong_state"],
    forbidden: ["buy_side_not_enabled","wrong_side"],
  },
  deleteGroup: {
    conflict: ["group_not_empty"],
    forbidden: ["sub_account_key"],
  },
  deleteRequirement: {
    conflict: ["cover_rests"],
  },
  enableWebhook: {
    conflict: ["wrong_state"],
  },
  exportAudit: {
    forbidden: ["sub_account_key"],
  },
  finishTask: {
    conflict: ["task_of_house","wrong_state"],
  },
  fundCross: {
    conflict: ["credit_not_sellable","deadline_passed","firm_not_authorized","mandate_expired","payment_pending","payment_ref_used","reference_used","wrong_state"],
    forbidden: ["buy_side_not_enabled","wrong_side"],
  },
  importCredits: {
    conflict: ["ended","facts_differ","firm_has_no_iec","firm_offboarded","firm_state","held_elsewhere","not_declared","used_up","was_used","wrong_state"],
  },
  listAudit: {
    forbidden: ["sub_account_key"],
  },
  listGroups: {
    forbidden: ["sub_account_key"],
  },
  listMembers: {
    forbidden: ["sub_account_key"],
  },
  mintKey: {
    conflict: ["child_keys_used_up","firm_offboarded","idempotency_key_reused"],
    forbidden: ["buy_side_not_held","scope_not_held"],
  },
  offboardFirm: {
    conflict: ["open_business","second_key_required","wrong_state"],
    forbidden: ["key_limit","own_firm","sub_account_key","suspended_by_operator"],
  },
  placeOrder: {
    conflict: ["bundle_gone","cancelled","cover_rests","credit_not_sellable","declared","expired","facts_changed","firm_not_authorized","funds_first","idempotency_key_reused","in_settlement","mandate_expired","no_cover","no_price","nothing_to_deliver","quote_expired","quote_used","rejected","requirement_covered","reserved","suspended","too_many_covers","too_short","transferred","unfunded_desk_limit","unfunded_limit","used","withdrawn","wrong_state"],
    forbidden: ["buy_side_not_enabled","key_limit"],
  },
  placeOrderBatch: {
    conflict: ["bundle_gone","cancelled","cover_rests","credit_not_sellable","declared","expired","facts_changed","firm_not_authorized","funds_first","idempotency_key_reused","in_settlement","mandate_expired","no_cover","no_price","nothing_to_deliver","quote_expired","quote_used","rejected","requirement_covered","reserved","suspended","too_many_covers","too_short","transferred","unfunded_desk_limit","unfunded_limit","used","withdrawn","wrong_state"],
    forbidden: ["buy_side_not_enabled","key_limit"],
  },
  proposeAct: {
    conflict: ["balance_moved","deal_unpaid","dues_outstanding","duplicate_external_id","duplicate_iec","firm_is_house","firm_not_authorized","group_full","idempotency_key_reused","in_another_group","insufficient_funds","no_bank_account","no_second_key","nothing_changes","open_business","rules_take_two","second_key_required","too_many_open","wrong_state"],
    forbidden: ["key_lacks","key_limit","own_firm","sub_account_key","suspended_by_operator"],
  },
  proposeCross: {
    conflict: ["counterparty_unavailable","credit_unavailable","dues_outstanding","firm_not_authorized","idempotency_key_reused","mandate_expired","quote_expired","quote_used"],
    forbidden: ["buy_side_not_enabled","key_limit"],
  },
  proposeNetting: {
    conflict: ["firm_not_authorized","group_too_large","mandate_expired","sum_too_large"],
    forbidden: ["sub_account_key"],
  },
  quoteCross: {
    conflict: ["cancelled","declared","expired","firm_not_authorized","in_settlement","mandate_expired","rejected","reserved","suspended","too_short","transferred","used","withdrawn"],
    forbidden: ["buy_side_not_enabled"],
  },
  readBillOfSupply: {
    conflict: ["nothing_delivered"],
  },
  readEarnings: {
    forbidden: ["sub_account_key"],
  },
  readFunding: {
    conflict: ["firm_offboarded","house_incomplete"],
  },
  readGroup: {
    forbidden: ["sub_account_key"],
  },
  readGroupPositions: {
    forbidden: ["sub_account_key"],
  },
  readStatement: {
    conflict: ["too_many_lines"],
  },
  registerFirm: {
    conflict: ["duplicate_external_id","duplicate_iec","firm_is_house","group_full","idempotency_key_reused","in_another_group"],
    forbidden: ["sub_account_key"],
  },
  registerWebhook: {
    conflict: ["deleted","idempotency_key_reused","too_many_webhooks","webhook_exists"],
  },
  reissueKey: {
    conflict: ["wrong_state"],
  },
  rejectAct: {
    conflict: ["wrong_state"],
    forbidden: ["key_lacks","sub_account_key"],
  },
  releaseCross: {
    conflict: ["credit_not_sellable","credit_unavailable","firm_not_authorized","mandate_expired","wrong_state"],
    forbidden: ["buy_side_not_enabled","wrong_side"],
  },
  removeMember: {
    forbidden: ["sub_account_key"],
  },
  reportMissing: {
    conflict: ["nothing_to_miss","wrong_state"],
  },
  resetSandbox: {
    conflict: ["balance_moved","wrong_state"],
    forbidden: ["sub_account_key"],
  },
  resumeFirm: {
    conflict: ["firm_is_house","wrong_state"],
    forbidden: ["suspended_by_operator"],
  },
  revokeKey: {
    conflict: ["wrong_state"],
  },
  seedSandbox: {
    conflict: ["firm_offboarded"],
  },
  setApprovalRules: {
    conflict: ["no_second_key","rules_take_two","wrong_state"],
  },
  setScenario: {
    forbidden: ["sub_account_key"],
  },
  suspendFirm: {
    conflict: ["wrong_state"],
  },
  syncCredits: {
    conflict: ["ended","facts_differ","firm_has_no_iec","firm_offboarded","firm_state","held_elsewhere","not_declared","registry_attested_only","registry_outage","used_up","was_used","wrong_state"],
  },
  takeQuote: {
    conflict: ["cancelled","declared","expired","firm_not_authorized","in_settlement","rejected","reserved","suspended","too_short","transferred","used","withdrawn"],
    forbidden: ["buy_side_not_enabled"],
  },
  takeQuoteBatch: {
    conflict: ["cancelled","declared","expired","firm_not_authorized","in_settlement","rejected","reserved","suspended","too_short","transferred","used","withdrawn"],
    forbidden: ["buy_side_not_enabled"],
  },
  updateFirm: {
    conflict: ["deal_unpaid","duplicate_external_id","duplicate_iec","firm_is_house","group_full","in_another_group","second_key_required","wrong_state"],
    forbidden: ["key_limit","own_firm","sub_account_key"],
  },
  updateGroup: {
    conflict: ["name_taken"],
    forbidden: ["sub_account_key"],
  },
  updateKey: {
    conflict: ["wrong_state"],
  },
  updateRequirement: {
    conflict: ["cover_rests","reference_taken"],
  },
  updateWebhook: {
    conflict: ["webhook_exists","wrong_state"],
  },
  useCredit: {
    conflict: ["above_balance","bill_of_entry_told","too_many_uses","wrong_state"],
  },
  verifyFirm: {
    conflict: ["identity_incomplete","wrong_state"],
  },
  withdrawCredit: {
    conflict: ["wrong_state"],
  },
  withdrawMoney: {
    conflict: ["balance_moved","dues_outstanding","firm_not_authorized","idempotency_key_reused","insufficient_funds","no_bank_account","second_key_required","wrong_state"],
    forbidden: ["key_limit"],
  },
};
