import { Type } from "typebox";

import { openEnum, timestamp } from "../platform/http/wire.ts";
import { Firm } from "../firms/schema.ts";
import { Key } from "../access/schema.ts";
import { taskKinds } from "../settlement/rules.ts";
import { Statement } from "../reports/statement-schema.ts";
import {
  count,
  doneOrProposed,
  environment,
  firmNames,
  flag,
  maybeCount,
  maybeText,
  maybeTime,
  pageList,
  sum,
  text,
  wrapList,
  extend,
} from "./schema.ts";
import { Delivery, Replay, Webhook } from "../webhooks/schema.ts";

export { Firm, Key, Replay, Statement };

export const KeyOfDesk = Type.Object(
  { legal_name: text("The legal name of the firm that the key belongs to."), key: Key },
  { title: "KeyOfDesk", description: "A key and its desk; never its secret." },
);

export const Keys = Type.Object(
  { keys: Type.Array(Key, { description: "The keys as they are now." }) },
  { title: "Keys", description: "Keys; never their secrets." },
);

export const IssuedKey = Type.Object(
  {
    api_key: text("The key itself; shown this once."),
    key_id: text("The key's id."),
    firm_id: text("The desk it belongs to."),
  },
  { title: "IssuedKey", description: "A desk's root key at the one moment it is shown." },
);

export const Plan = Type.Object(
  {
    name: text("The plan's name."),
    per_minute: count("Calls per 60-second sliding window."),
    monthly_quota: maybeCount("Calls per IST month; null for no limit."),
    enforced: flag("Whether its keys are metered; the sandbox's are not."),
    child_keys_max: count("Child keys of a desk at a time."),
    unfunded_max_paise: count("Deals of a firm that may wait for money."),
    unfunded_desk_max_paise: count("The same of all firms of a desk together."),
    unpaid_days: count("Working days for which a deal that was not paid counts."),
  },
  { title: "Plan", description: "What a key may do in how much time." },
);

export const Plans = wrapList("plans", Plan, "Every plan there is.");

export const FirmOfDesk = Type.Object(
  { desk_name: text("The desk that trades for it."), firm: Firm },
  { title: "FirmOfDesk", description: "A firm and its desk." },
);

export const FirmNames = Type.Object({ names: firmNames });

export const Commission = Type.Object(
  {
    firm_id: text("The id of the desk's own firm."),
    legal_name: text("The firm's legal name."),
    commission_bps: count("What it earns from now on, in basis points of face."),
    was_bps: count("The rate before, in basis points of face."),
    warning: maybeText("Of which deals the house keeps less, so that the desk gets less; or null."),
  },
  { title: "Commission", description: "What a desk earns on its clients' deals." },
);

export const CommissionPayment = doneOrProposed("CommissionPayment", ["paid"]);

export const Register = pageList(
  "statements",
  Type.Object(
    {
      statement_no: text("The statement's number."),
      firm_id: text("The firm's id."),
      legal_name: text("The firm's legal name."),
      period: text("The month, YYYY-MM, in IST."),
      opening_paise: sum("The balance at the beginning, in paise."),
      closing_paise: sum("The balance at the end, in paise."),
      commission_paise: sum("The commission within that."),
      dues_paise: sum("What the firm owes besides."),
      frozen_at: timestamp("When it became final."),
      digest: text("SHA-256 of the statement, in hexadecimal."),
    },
    { title: "RegisteredMonth", description: "A firm's month in the register." },
  ),
  "One for each firm, by its id.",
);

export const UnpaidDeals = pageList(
  "deals",
  Type.Object(
    {
      settlement_id: text("The settlement's id."),
      environment,
      desk_id: text("The desk of who did not do its part."),
      firm_id: text("The id of the firm that did not pay."),
      pan: maybeText("The firm's PAN at that time; null where it had none."),
      buyer_paise: count("What the buyer was to pay."),
      failed_step: openEnum(
        taskKinds,
        "What was not done: paid, or initiated or accepted in time.",
      ),
      failed_at: timestamp("When the deal failed."),
      until: timestamp("Until when it counts against the PAN."),
      lifted_at: maybeTime("When a person lifted that; null while it counts."),
      lifted_by: maybeText("The name of whoever lifted it; null while it stands."),
      lift_reason: maybeText("Why it was lifted; null while it counts."),
      counts: flag("Whether the firms of the PAN must have the money before they buy."),
    },
    { title: "UnpaidDeal", description: "A deal in which a firm did not do its part." },
  ),
  "The newest first.",
);

export const LiftedDeals = Type.Object(
  {
    settlement_ids: Type.Array(text("A deal of the PAN."), { description: "What counts no more." }),
  },
  { title: "LiftedDeals", description: "The unpaid deals that count against nobody any more." },
);

export const Webhooks = wrapList(
  "webhooks",
  Type.Object(
    { legal_name: text("The desk's legal name."), webhook: Webhook },
    { title: "WebhookOfDesk", description: "A webhook and its desk; never its secret." },
  ),
  "Those of every desk.",
);

export const Failures = pageList(
  "failures",
  extend(
    Delivery,
    { environment, desk_id: text("The id of the desk's own firm.") },
    { title: "DeliveryOfDesk", description: "A dead-lettered delivery and its desk." },
  ),
  "The newest first.",
);
