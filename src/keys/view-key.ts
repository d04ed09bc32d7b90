import { allowedActions } from "../kernel/lifecycle.ts";
import { istTimestamp } from "../kernel/time.ts";
import { keyLifecycle, maskedKey, stateOf } from "./rules.ts";
import type { Key } from "./schema.ts";
import type { KeyRow } from "./store.ts";

/** A key as its desk sees it: everything but the secret. */
export function viewKey(row: KeyRow, now: Date): Key {
  const status = stateOf(row, now);
  return {
    key_id: row.key_id,
    name: row.name,
    kind: row.kind,
    environment: row.environment,
    firm_id: row.firm_id,
    parent_key_id: row.parent_key_id,
    scopes: [...row.scopes],
    buy_side: row.buy_side,
    plan: row.plan,
    limits: {
      ...(row.per_minute !== null && { per_minute: row.per_minute }),
      ...(row.monthly_quota !== null && { monthly_quota: row.monthly_quota }),
      ...(row.max_order_paise !== null && { max_order_paise: row.max_order_paise }),
      ...(row.daily_notional_paise !== null && { daily_notional_paise: row.daily_notional_paise }),
    },
    ip_allowlist: [...row.ip_allowlist],
    masked_key: maskedKey(row.environment, row.hint),
    status,
    expires_at: row.expires_at && istTimestamp(row.expires_at),
    revoked_at: row.revoked_at && istTimestamp(row.revoked_at),
    created_at: istTimestamp(row.created_at),
    updated_at: istTimestamp(row.updated_at),
    version: row.version,
    allowed_actions: allowedActions(keyLifecycle, status),
  };
}
