import { Type } from "typebox";

import { crossKinds, crossStates } from "../crosses/rules.ts";
import { sides } from "../kernel/scheme.ts";
import { columnFields, dayForms, fileStates, lineStates } from "../payouts/file-rules.ts";
import { payoutActs, payoutKinds, payoutStates, rails } from "../payouts/rules.ts";
import { openEnum, timestamp, historySchema } from "../platform/http/wire.ts";
import {
  dealActs,
  legStates,
  settlementStates,
  taskActors,
  waitingOn,
} from "../settlement/rules.ts";
import { Task, TaskOfList } from "../settlement/schema.ts";
import { Attested } from "./registry-schema.ts";
import {
  allowed,
  count,
  doneOrProposed,
  environment,
  extend,
  flag,
  maybeCount,
  maybeText,
  maybeTime,
  outcome,
  pageList,
  Proposed,
  scheme,
  text,
  version,
  wrapList,
} from "./schema.ts";

const changed = {
  version,
  created_at: timestamp("When it was made."),
  updated_at: timestamp("When it last changed."),
};
const reason = maybeText("Why it is in this state; null where that is obvious.");

const Leg = Type.Object(
  {
    settlement_id: text("The settlement's id."),
    scrip_no: text("The credit's number."),
    ordinal: count("Its place in the settlement."),
    environment,
    scheme,
    dealt_at: timestamp("When it was dealt."),
    seller_desk_id: text("The seller's desk."),
    seller_firm_id: text("The id of the firm that sells."),
    seller_order_id: maybeText("The seller's order; null for the house and in a cross."),
    face_paise: count("The credit's face value in paise."),
    seller_bps: count("The seller's price in basis points of face."),
    buyer_bps: count("The buyer's price in basis points of face."),
    seller_paise: count("What the seller gets."),
    buyer_paise: count("What the buyer pays."),
    buyer_fee_paise: count("The fee within what the buyer pays."),
    buyer_gst_paise: count("The tax on it."),
    seller_fee_paise: count("The fee that was taken from what the seller gets."),
    seller_gst_paise: count("The tax on it."),
    private: flag("Whether it stays out of what the market shows."),
    status: openEnum(legStates, "The state it is in."),
    reason,
    answered_at: maybeTime("When it was delivered or failed; null before."),
    failed_step: maybeText(
      "What was awaited when it failed: pay, initiate, accept or customs; null where it did not fail while waiting.",
    ),
    initiate_by: openEnum(
      taskActors,
      "Who initiates the transfer: the holder, or the house for it.",
    ),
    scenario: maybeText("What the simulated parties do with it in the sandbox; null in live."),
    initiate_due_at: maybeTime("By when the holder is to initiate; null before its turn."),
    initiated_at: maybeTime(
      "When it was initiated, as somebody said or customs showed; null before.",
    ),
    initiate_reference: maybeText("The reference that was given with it; null without one."),
    accept_due_at: maybeTime("By when the receiver is to accept; null before its turn."),
    accepted_at: maybeTime("When the receiver said that it accepted; null before."),
    accept_reference: maybeText("The reference that was given with it; null without one."),
    missing_at: maybeTime(
      "When the receiver said that there is nothing to accept; null where it did not.",
    ),
    missing_reference: maybeText("The reference that was given with it; null without one."),
    missing_note: maybeText("What the receiver said of it; null without a word."),
    customs_due_at: maybeTime(
      "By when customs should show it; null before both parties have acted.",
    ),
    late_at: maybeTime("When its party was told that it is late; null while it is not."),
    pending_from: maybeTime(
      "The first time that the portal showed the transfer as pending; null for never.",
    ),
    pending_until: maybeTime("The last time that the portal showed it as pending; null for never."),
    default_by: maybeText("The side that pays for being late: sell or buy; null for nobody."),
    default_paise: count("What the late side pays, in paise."),
    default_paid_at: maybeTime(
      "When the other side got what a late one owes; null where nothing was paid.",
    ),
  },
  { title: "OpsLeg", description: "One credit of a settlement, with both of its sides." },
);

export const OpsSettlement = Type.Object(
  {
    settlement_id: text("The settlement's id."),
    environment,
    scheme,
    origin: text("What it was made by, such as an order or a cross."),
    buyer_desk_id: text("The buyer's desk."),
    buyer_firm_id: text("The id of the firm that buys."),
    buyer_order_id: maybeText("The buyer's order; null for the house and in a cross."),
    status: openEnum(settlementStates, "The state it is in."),
    reason,
    face_paise: count("The face of all its credits."),
    buyer_paise: count("What the buyer pays for all of them."),
    due_at: maybeTime("By when what it waits for must come; null where it waits for nothing."),
    ends_at: maybeTime("When the clock ends what is open; null while only customs may."),
    next_late_at: maybeTime(
      "The next deadline of a task whose party was not yet told that it is late; null without one.",
    ),
    begun: flag("Whether its parties have been told to begin the transfers."),
    paid_at: maybeTime("When its money had come; null before."),
    pay_due_at: maybeTime("By when the buyer is to pay; null where it paid with the deal."),
    pay_reference: maybeText(
      "The reference that the buyer gave for its payment; null without one.",
    ),
    pay_late_at: maybeTime("When the buyer was told that it is late; null while it is not."),
    money_apart: flag("Whether its money is in escrow."),
    default_bps: count("Of face, what a side that is proved late pays the other."),
    history: historySchema(settlementStates),
    ...changed,
    legs: Type.Array(Leg, { description: "One for each credit." }),
  },
  { title: "OpsSettlement", description: "A settlement as neither side of it may see it." },
);

export const FollowedSettlement = extend(
  OpsSettlement,
  {
    waiting_on: openEnum(waitingOn, "Whose move is awaited."),
    late: flag("Whether that should have come by now."),
    tasks: Type.Array(
      extend(
        Task,
        { firm_iec: maybeText("The IEC of the firm that does it; null before the deal is paid.") },
        { title: "OpsTask", description: "What a party, or the house for it, does outside." },
      ),
      { description: "What each side does: the payment, then credit by credit." },
    ),
    allowed_actions: allowed(dealActs),
  },
  { title: "FollowedSettlement", description: "A settlement and what it waits for." },
);

export const SettlementQueue = pageList(
  "settlements",
  FollowedSettlement,
  "What was due first, first.",
);

export const FirmTasks = wrapList("tasks", TaskOfList, "What is open, 100 at most.");

export const OpsCross = Type.Object(
  {
    cross_id: text("The cross's id."),
    environment,
    kind: openEnum(crossKinds, "A block, or a transfer inside a group."),
    scheme,
    face_paise: count("The face of its credits."),
    price_bps: count("The price in basis points of face."),
    fee_bps: count("The fee of each side."),
    gst_bps: count("The rate of GST within the fee."),
    seller_paise: count("What the seller gets."),
    buyer_paise: count("What the buyer pays."),
    proposed_by: openEnum(sides, "Which side proposed it."),
    proposing_key_id: maybeText("The key whose limits counted it; null where none did."),
    seller_iec: text("The seller's importer-exporter code."),
    seller_desk_id: maybeText("The seller's desk; null until it has answered."),
    seller_firm_id: maybeText("The seller; null until it has answered."),
    buyer_iec: text("The buyer's importer-exporter code."),
    buyer_desk_id: maybeText("The buyer's desk; null until it has answered."),
    buyer_firm_id: maybeText("The buyer; null until it has answered."),
    awaited_iec: maybeText(
      "The IEC of the firm whose answer it waits for; null where it waits for none.",
    ),
    names_credits: flag("Whether its terms name the credits."),
    scrip_nos: Type.Array(Type.String(), { description: "The credits' numbers." }),
    terms_hash: text("SHA-256 of its terms, in hexadecimal."),
    status: openEnum(crossStates, "The state it is in."),
    reason,
    payment_ref: maybeText(
      "The reference that the buyer gave for its payment; null before it is funded.",
    ),
    settlement_id: maybeText("The settlement that it became; null before the release."),
    netting_ref: maybeText("The netting that made it; null for a cross of its own."),
    due_at: maybeTime("By when what it waits for must come; null where it waits for nothing."),
    history: historySchema(crossStates),
    ...changed,
  },
  { title: "OpsCross", description: "A cross with both of its sides." },
);

export const FundedDeal = Type.Union(
  [
    // The words below are an open set and would match these, so these come first.
    Attested,
    Type.Object({
      outcome: outcome(
        ["known", "received", "funded"],
        "received when some is still missing, known when it was told before.",
      ),
    }),
  ],
  { title: "FundedDeal", description: "What became of money for a deal." },
);

export const Initiated = Type.Object(
  { initiated: count("Credits whose transfer the house has initiated now.") },
  { title: "Initiated" },
);

export const Failed = doneOrProposed("Failed", ["failed"]);
export const TakenBack = doneOrProposed("TakenBack", ["taken_back"]);
export const Reversal = doneOrProposed("Reversal", ["reversed"]);

export const AddedDeposit = Type.Union(
  [
    Type.Object({
      outcome: openEnum(["added", "known"], "known when it was added before."),
      deposit: Type.Object(
        {
          environment,
          reference: text("The bank's reference."),
          desk_id: text("The firm's desk."),
          firm_id: text("Whose money it is."),
          amount_paise: count("The amount in paise."),
          settlement_id: maybeText("The settlement that it was for; null where it was for none."),
          at: timestamp("When it was taken in."),
        },
        { title: "Deposit", description: "Money that a firm has paid in." },
      ),
    }),
    Proposed,
  ],
  { title: "AddedDeposit", description: "What became of money that a firm has paid in." },
);

export const ReversedDeposit = doneOrProposed(
  "ReversedDeposit",
  ["reversed", "known"],
  "known when it was reversed before.",
);

const payoutFields = {
  payout_id: text("The payout's id."),
  environment,
  desk_id: text("The firm's desk."),
  firm_id: text("The id of the firm that is paid."),
  kind: openEnum(payoutKinds, "What it is paid for."),
  settlement_id: maybeText("The settlement; null for a withdrawal."),
  resend_of: maybeText(
    "The payout that came back and is sent again by this one; null for a first attempt.",
  ),
  amount_paise: count("The amount in paise."),
  set_off_paise: count("What of its proceeds paid the firm's dues."),
  rail: openEnum(rails, "How it travels."),
  ifsc: maybeText("The IFSC of the account; null where none is chosen."),
  last4: maybeText("The last four digits of the account; null where none is chosen."),
  account_id: maybeText("The confirmed account that it left to; null until then."),
  status: openEnum(payoutStates, "The state it is in."),
  reason,
  held_until: maybeTime(
    "Until when it is held; null without a hold, or where something else ends it.",
  ),
  utr: maybeText("The bank's reference (UTR); null without one."),
  remitted_with: maybeText(
    "The first of the payouts that leave as one payment; null before they are put together.",
  ),
  remitted_paise: maybeCount("The amount of that payment; null before it is put together."),
  look_at: maybeTime("When the worker looks at it next; null where it does not."),
  history: historySchema(payoutStates),
  ...changed,
};

export const ResentPayout = Type.Object(payoutFields, {
  title: "BarePayout",
  description: "A payout without its lines.",
});

export const OpsPayout = extend(
  ResentPayout,
  {
    lines: Type.Array(
      Type.Object({
        payout_id: text("The payout's id."),
        order_id: text("The order or cross that sold the credit."),
        scrip_no: text("The credit's number."),
        amount_paise: count("What it brought."),
      }),
      { description: "Where its money comes from; a withdrawal has none." },
    ),
    allowed_actions: allowed(Object.keys(payoutActs)),
  },
  { title: "OpsPayout", description: "Money on its way to a firm's bank, to the order." },
);

export const ReleasedPayout = doneOrProposed("ReleasedPayout", ["released"]);
export const SentPayout = doneOrProposed("SentPayout", ["sent"]);
export const ReturnedPayout = Type.Union(
  [
    Type.Object({
      outcome: Type.Literal("returned", { description: "The money is back on the balance." }),
    }),
    Proposed,
  ],
  { title: "ReturnedPayout", description: "What became of a payout that came back." },
);

const fileFields = {
  file_id: text("The file's id."),
  environment,
  rail: text("How its payments travel."),
  format: Type.Object(
    {
      name: text("What the form is called."),
      has_header: flag("Whether the first line names the columns."),
      day_form: openEnum(dayForms, "How a day is written."),
      columns: Type.Array(
        Type.Object({
          header: text("What the column is called."),
          field: Type.Optional(openEnum(columnFields, "What it holds.")),
          text: Type.Optional(text("Or the same in every line.")),
        }),
        { description: "The columns, in their order." },
      ),
    },
    { title: "FileFormat", description: "The bank's form." },
  ),
  status: openEnum(fileStates, "live until the bank has answered every line."),
  line_count: count("The number of payments in the file."),
  amount_paise: count("The sum of their amounts, in paise."),
  sha256: maybeText("SHA-256 of its bytes, in hexadecimal; null before they are read."),
  made_by: text("The name of whoever made it."),
  made_at: timestamp("When it was made."),
  voided_by: maybeText("The name of whoever voided it; null while it stands."),
  voided_at: maybeTime("When it was voided; null while it stands."),
  void_reason: maybeText("The reason in words; null without one."),
  version,
};

const PayoutFile = Type.Object(fileFields, {
  title: "PayoutFile",
  description: "Payments of one rail that the bank is given together; no account number.",
});

export const PayoutFiles = pageList("payout_files", PayoutFile, "The newest first.");

export const ShownFile = extend(
  PayoutFile,
  {
    lines: Type.Array(
      Type.Object({
        file_id: text("The file's id."),
        ordinal: count("The line's place, from 1."),
        lead_id: text("The first payout of the payment."),
        firm_id: text("The id of the firm that is paid."),
        amount_paise: count("The amount in paise."),
        reference: text("Our reference, which the bank's statement repeats."),
        ifsc: text("The branch of the account."),
        account_name: text("The name the account bears."),
        status: openEnum(lineStates, "What the bank said of it."),
        payout_ids: Type.Array(Type.String(), { description: "The payouts of the payment." }),
        payouts: Type.Array(
          Type.Object({
            payout_id: text("The payout's id."),
            kind: openEnum(payoutKinds, "What it is paid for."),
            settlement_id: maybeText("The settlement; null for a withdrawal."),
            amount_paise: count("The amount in paise."),
            lines: Type.Array(
              Type.Object({
                order_id: text("The order or cross that sold the credit."),
                scrip_no: text("The credit's number."),
                amount_paise: count("What it brought."),
              }),
              { description: "Where it comes from." },
            ),
          }),
          { description: "What each paisa of it comes from, to the order." },
        ),
      }),
      { description: "One for each payee." },
    ),
  },
  { title: "ShownFile", description: "A payout file with what is in it." },
);

export const FilePreview = Type.Object(
  {
    files: Type.Array(
      Type.Object({
        rail: text("How its payments travel."),
        amount_paise: count("The sum of their amounts, in paise."),
        remittances: Type.Array(
          Type.Object({
            firm_id: text("The id of the firm that is paid."),
            amount_paise: count("The amount in paise."),
            ifsc: text("The branch of the account."),
            account_last4: text("The last digits of the account."),
            payout_ids: Type.Array(Type.String(), { description: "The payouts of the payment." }),
          }),
          { description: "One for each payee." },
        ),
      }),
      { description: "One for each rail." },
    ),
    kept: Type.Array(
      Type.Object({
        payout_id: text("The payout's id."),
        amount_paise: count("The amount in paise."),
        reason: text("Why it stays here."),
      }),
      { description: "What is due and stays here." },
    ),
  },
  { title: "FilePreview", description: "The payout files that would be made now." },
);

export const MadeFiles = wrapList(
  "payout_files",
  Type.Object(
    {
      rail: text("How its payments travel."),
      amount_paise: count("The sum of their amounts, in paise."),
      outcome: outcome(["made", "proposed"]),
      file_id: maybeText("The file; null while it is proposed."),
      approval_id: maybeText("The id of the proposal; null where it takes one person."),
    },
    { title: "MadeFile", description: "A payout file, or the proposal of one." },
  ),
  "One for each rail by which something is due.",
);

export const FileBytes = Type.Object(
  {
    name: text("The name it is known by."),
    text: text("The bytes for the bank, with whole account numbers."),
    sha256: text("SHA-256 of them, in hexadecimal."),
  },
  { title: "FileBytes", description: "A payout file as the bank gets it." },
);

export const VoidedFile = doneOrProposed("VoidedFile", ["voided"]);

export const RevealedAccount = Type.Object(
  {
    firm_id: text("Whose account it is."),
    account_no: text("The whole account number."),
    ifsc: text("The branch's IFSC."),
    name: text("The name the account bears."),
  },
  { title: "RevealedAccount", description: "A firm's bank account." },
);
