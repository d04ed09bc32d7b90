// Whether the minute's check of the books feels how long they are: at a hundred thousand entries and at
// ten million (BENCH_ENTRIES says another size). Both books belong to as many firms, both were proved
// whole once, and both get as many new entries before each check, in turn. CHECK_BOOKS names a folder
// that keeps the long books: to fill and prove ten million entries takes twenty minutes, and a later run
// finds them there. The short ones are filled each time: what runs add would be a good part of them.

import { join } from "node:path";

import { pino } from "pino";

import { readConfig } from "../src/config.ts";
import { newId } from "../src/kernel/ids.ts";
import { checkLedger, checkLedgerWhenDue } from "../src/ledger/check-ledger.ts";
import { assertWritten, type Entry } from "../src/ledger/rules.ts";
import { postEntries } from "../src/ledger/write-books.ts";
import { openContext } from "../src/open-context.ts";
import type { Context } from "../src/platform/context.ts";
import { setIndexes } from "./multiply.ts";
import { chooseSize } from "./sizes.ts";
import { makeFolder, median, printRemark, printTable, spread } from "./support.ts";
import { openStack } from "../test/support/programme-stack.ts";

const small = chooseSize("BENCH_FEW_ENTRIES", 100_000, 20_000);
const large = chooseSize("BENCH_ENTRIES", 10_000_000, 50_000);
const firmCount = 50;
const newEntries = 500;
/** So many that those in which a round over the short books ends, and which read less, are a few. */
const rounds = chooseSize("BENCH_ROUNDS", 15, 1);
const filledAtOnce = 250_000;
const hourMs = 3_600_000;

type Books = {
  readonly ctx: Context;
  readonly firms: readonly string[];
  /** Undefined for books of an earlier run. */
  readonly wholeMs: number | undefined;
};

export async function check(): Promise<void> {
  await using stack = openStack();
  let now = new Date();
  const few = await openBooks(stack, () => now, { size: small, kept: undefined });
  const kept = process.env["CHECK_BOOKS"];
  const many = await openBooks(stack, () => now, { size: large, kept });
  // A check is due some time after the last one, and an earlier run has turned its clock.
  const lastMs = await Promise.all([few, many].map(findLastCheckMs));
  now = new Date(Math.max(now.getTime(), ...lastMs));
  const taken: [number, number][] = [];
  for (let round = 0; round <= rounds; round++) {
    now = new Date(now.getTime() + hourMs);
    const pair = [await timeCheck(few), await timeCheck(many)] as const;
    if (round > 0) taken.push([...pair]);
  }
  const ofFew = median(taken.map(([ms]) => ms));
  const ofMany = median(taken.map(([, ms]) => ms));
  printTable([
    {
      what: "the minute's check of the books",
      ours: `${Math.round(ofMany)} ms at ${large}`,
      yardstick: `${Math.round(ofFew)} ms at ${small}`,
      ratio: ofMany / ofFew,
      spread: spread(taken.map(([one, other]) => other / one)),
      goal: "≤ 1.5",
    },
  ]);
  if (many.wholeMs !== undefined) {
    printRemark(`the first proof of all ${large} entries took ${many.wholeMs} ms`);
  }
}

async function timeCheck(books: Books): Promise<number> {
  const { ctx, firms } = books;
  const entries = Array.from({ length: newEntries }, (_, at) => toDeposit(firms[at % firmCount]));
  assertWritten(await ctx.db.transaction((tx) => postEntries(tx, entries, ctx.now())));
  const startedMs = performance.now();
  await checkLedgerWhenDue(ctx);
  const took = performance.now() - startedMs;
  const { rows } = await ctx.db.pool.query<{ sound: boolean }>("select sound from ledger_verdict");
  if (rows[0]?.sound !== true) throw new Error("the books do not hold");
  if ((await findLastCheckMs(books)) !== ctx.now().getTime()) throw new Error("no check was due");
  return took;
}

/** When the books were last checked by their clock; 0 for never. */
async function findLastCheckMs({ ctx }: Books): Promise<number> {
  const { rows } = await ctx.db.pool.query<{ checked_at: Date | null }>(
    "select checked_at from ledger_verdict",
  );
  return rows[0]?.checked_at?.getTime() ?? 0;
}

const run = Date.now().toString(36);
let deposits = 0;

function toDeposit(firmId = ""): Entry {
  const to = { kind: "firm_cash", firmId } as const;
  return {
    environment: "sandbox",
    kind: "deposit",
    subject: `DEPOSIT-${run}-${++deposits}`,
    phase: "posted",
    movements: [{ from: { kind: "external_bank" }, to, paise: 1_000 }],
  };
}

async function openBooks(
  stack: AsyncDisposableStack,
  now: () => Date,
  { size, kept }: { readonly size: number; readonly kept: string | undefined },
): Promise<Books> {
  const dataDir = kept === undefined ? await makeFolder(stack) : join(kept, String(size));
  const config = readConfig({ DATA_DIR: dataDir });
  const log = pino({ level: "silent" });
  const opened = await openContext(config, { as: "service", create: true, log, now });
  stack.defer(() => opened.close());
  const { ctx } = opened;
  const known = kept !== undefined ? await listFirms(ctx, size) : [];
  if (known.length > 0) return { ctx, firms: known, wholeMs: undefined };
  const firms = Array.from({ length: firmCount }, () => newId("frm", now()));
  await fill(ctx, firms, size);
  const { sound, tookMs } = await checkLedger(ctx);
  if (!sound) throw new Error("the books were filled wrongly");
  return { ctx, firms, wholeMs: tookMs };
}

/** The firms of books whose entries were all proved before; none for other books. */
async function listFirms({ db }: Context, size: number): Promise<string[]> {
  const { rows } = await db.pool.query<{ firm_id: string }>(
    `select firm_id
     from firms
     where (select proved_to >= $1 from ledger_proof) and legal_name = firm_id
     order by firm_id`,
    [size],
  );
  return rows.map(({ firm_id }) => firm_id);
}

/** Deals: a buyer pays in, pays its seller and a fee, and gets a credit. */
async function fill({ db, now }: Context, firms: readonly string[], size: number): Promise<void> {
  await db.pool.query(
    `insert into firms (firm_id, environment, desk_id, legal_name, connection_state, authorized_at, created_at, updated_at)
     select firm_id, 'sandbox', firm_id, firm_id, 'authorized', $2, $2, $2
     from unnest($1::text[]) as firm_id`,
    [firms, now()],
  );
  // The rows of the balances.
  const first = firms.map((firmId) => toDeposit(firmId));
  assertWritten(await db.transaction((tx) => postEntries(tx, first, now())));
  const client = await db.pool.connect();
  try {
    await client.query("set role none");
    await client.query("set statement_timeout = 0");
    await client.query("set session_replication_role = replica");
    for (const table of filled) await setIndexes(client, table, "off");
    for (let from = 0; from < size; from += filledAtOnce) {
      await client.query(fillDeals, [from, firms, size, filledAtOnce]);
    }
    for (const table of filled) await setIndexes(client, table, "on");
    await client.query(
      `update ledger_balances as b
       set posted_paise = b.posted_paise + sold.paise
       from (
         select 'firm_cash:' || ($1::text[])[1 + (n + 7) % ${firmCount}] as balance, count(*) * 1000 as paise
         from generate_series(1, $2::int) as n
         group by 1
       ) as sold
       where b.balance = sold.balance`,
      [firms, size],
    );
    await client.query(
      `update ledger_balances
       set posted_paise = posted_paise + $1::bigint * case balance
         when 'house_fees:sandbox:0' then 10
         else -1010
       end
       where balance in ('house_fees:sandbox:0', 'external_bank:sandbox:0')`,
      [size],
    );
    await client.query("vacuum analyze");
  } finally {
    client.release(true);
  }
}

const filled = ["ledger_entries", "ledger_firm_entries", "credit_owners"];

const fillDeals = `
  with made as materialized (
    select nextval('ledger_entry_numbers') as entry_no, 'BENCH-' || lpad(n::text, 9, '0') as scrip_no,
      now() - interval '1 day' + n * interval '1 ms' as at, buyer, seller,
      array[
        ('external_bank', 'firm_cash:' || buyer, null, 1010)::ledger_movement_parts,
        ('firm_cash:' || buyer, 'firm_cash:' || seller, null, 1000)::ledger_movement_parts,
        ('firm_cash:' || buyer, 'house_fees', null, 10)::ledger_movement_parts,
        ('external_customs', 'firm_credits:' || buyer, 'BENCH-' || lpad(n::text, 9, '0'), 1)::ledger_movement_parts
      ]::ledger_movement[] as movements
    from generate_series($1::int + 1, least($1::int + $4::int, $3::int)) as n
    cross join lateral (
      select ($2::text[])[1 + n % ${firmCount}] as buyer, ($2::text[])[1 + (n + 7) % ${firmCount}] as seller
    ) as parties
  ), written as (
    insert into ledger_entries (
      entry_no, environment, kind, subject, ordinal, phase, at, movements, digest
    )
    select entry_no, 'sandbox', 'deal_settlement', scrip_no, 0, 'posted', at, movements,
      substr(sha256(convert_to(concat_ws(' ', 'sandbox', 'deal_settlement', 0, 'posted', null, null,
        extract(epoch from at), movements, scrip_no), 'UTF8')), 1, 8)
    from made
  ), lines as (
    insert into ledger_firm_entries
    select firm_id, at, entry_no
    from made
    cross join lateral (values (buyer), (seller)) as party (firm_id)
  )
  insert into credit_owners (environment, scrip_no, account)
  select 'sandbox', scrip_no, 'firm_credits:' || buyer
  from made`;
