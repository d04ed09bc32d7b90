import { allowedActions } from "../kernel/lifecycle.ts";
import { type IstDay, istTimestamp } from "../kernel/time.ts";
import { creditLifecycle, daysLeft, notSellableReasonOf } from "./rules.ts";
import type { Credit } from "./schema.ts";
import type { CreditRow } from "./store.ts";

/** A credit as its desk sees it. Whether it can be sold depends on its firm and on the day, too. */
export function viewCredit(
  row: CreditRow,
  { firmState, today }: { readonly firmState: string; readonly today: IstDay },
): Credit {
  const reason = notSellableReasonOf(row, { firmState, today });
  return {
    credit_id: row.credit_id,
    scrip_no: row.scrip_no,
    scheme: row.scheme,
    firm_id: row.firm_id,
    issued_paise: row.issued_paise,
    face_paise: row.face_paise,
    port_code: row.port_code,
    issued_on: row.issued_on,
    expires_on: row.expires_on,
    days_left: Math.max(0, daysLeft(row.expires_on, today)),
    status: row.state,
    sellable: reason === null,
    not_sellable_reason: reason,
    as_of: istTimestamp(row.as_of),
    version: row.version,
    allowed_actions: allowedActions(creditLifecycle, row.state),
  };
}
