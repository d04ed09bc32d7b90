// What workers take of settlements: claimed by state, so that two of them never take the same one.

import type { Environment } from "../kernel/caller.ts";
import type { Choice } from "../platform/postgres/offenders.ts";
import { sql, type Tx } from "../platform/postgres/postgres.ts";
import type { SettlementState } from "./rules.ts";
import { settlementColumns, type SettlementRow } from "./store.ts";
import { shape, text, time } from "../platform/postgres/table.ts";

const lateStates = shape({ state: text(), until: time() });

/** Ready for customs; two workers never take the same one. */
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

/** What these buyers have yet to pay for, the oldest first; two workers never take the same one. */
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

/** Those whose time was up at the instant of their state, in the states that are not waited for. */
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
