// The claims of the workers: `for update skip locked`, so that two workers never take the same row.

import type { Environment } from "../kernel/caller.ts";
import type { Choice } from "../platform/postgres/offenders.ts";
import { sql, type Tx } from "../platform/postgres/postgres.ts";
import type { SettlementState } from "./rules.ts";
import { settlementColumns, type SettlementRow } from "./store.ts";
import { shape, text, time } from "../platform/postgres/table.ts";

const lateStates = shape({ state: text(), until: time() });

/** Claims funded settlements, whose transfer can begin. */
export async function claimFunded(
  tx: Tx,
  environment: Environment,
  { limit, only, except }: Choice & { readonly limit: number },
): Promise<SettlementRow[]> {
  return await tx.rows(sql`
    select ${settlementColumns}
    from settlements as s
    where s.environment = ${environment} and s.state = 'funded' and s.due_at is not null
      and (${only}::text[] is null or s.settlement_id = any(${only}::text[]))
      and s.settlement_id <> all(${except}::text[])
    order by s.due_at
    limit ${limit}
    for update skip locked`);
}

/** Claims unfunded settlements of these buyers, oldest first. */
export async function claimUnfunded(
  tx: Tx,
  environment: Environment,
  {
    buyerFirmIds,
    limit,
    only,
    except,
  }: Choice & { readonly buyerFirmIds: readonly string[]; readonly limit: number },
): Promise<SettlementRow[]> {
  return await tx.rows(sql`
    select ${settlementColumns}
    from settlements as s
    where s.environment = ${environment} and s.state = 'pending'
      and s.buyer_firm_id = any(${buyerFirmIds}::text[])
      and (${only}::text[] is null or s.settlement_id = any(${only}::text[]))
      and s.settlement_id <> all(${except}::text[])
    order by s.due_at, s.settlement_id
    limit ${limit}
    for update skip locked`);
}

/** Claims settlements in these states whose deadline is at or before the instant given for the state. */
export async function claimOverdue(
  tx: Tx,
  {
    environment,
    states,
    limit,
    only,
    except,
  }: Choice & {
    readonly environment: Environment;
    readonly states: readonly { readonly state: SettlementState; readonly lateUntil: Date }[];
    readonly limit: number;
  },
): Promise<SettlementRow[]> {
  const late = lateStates.rows(
    { state: ({ state }) => state, until: ({ lateUntil }) => lateUntil },
    states,
  );
  return await tx.rows(sql`
    select ${settlementColumns}
    from ${late} as late
    join settlements as s on s.state = late.state and s.due_at <= late.until
    where s.environment = ${environment}
      and (${only}::text[] is null or s.settlement_id = any(${only}::text[]))
      and s.settlement_id <> all(${except}::text[])
    order by s.due_at
    limit ${limit}
    for update of s skip locked`);
}
