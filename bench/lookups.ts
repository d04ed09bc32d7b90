// Whether an operator's search and lists feel how much the service holds: at a thousand and at a hundred
// thousand firms, orders, settlements, payouts and credits. BENCH_LOOKUPS says another size, and
// BENCH_ONLY=today,desks measures the paths that begin so. One row in ten is live, one order in sixteen
// rests and as many failed, and a tenth of everything belongs to one desk. Both services answer in this
// process.

import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { pino } from "pino";

import { openLocalRateWindow } from "../src/access/rate-window.ts";
import { readConfig } from "../src/config.ts";
import { namedOperator } from "../src/kernel/actor.ts";
import { openContext } from "../src/open-context.ts";
import { computeCode, computeStep, fromBase32 } from "../src/operators/credentials.ts";
import { addOperator } from "../src/operators/manage-operators.ts";
import { commandLine } from "../src/operators/limit-attempts.ts";
import { beginEnrolment, confirmEnrolment } from "../src/operators/enrol.ts";
import { signIn } from "../src/operators/sign-in.ts";
import { buildOpsApp } from "../src/ops-app.ts";
import type { Context } from "../src/platform/context.ts";
import { createMetrics } from "../src/platform/metrics.ts";
import { buildGrowthRow, type Pair, timeInTurns } from "./growth.ts";
import { chooseSize } from "./sizes.ts";
import { printTable } from "./support.ts";
import { openStack } from "../test/support/programme-stack.ts";

const small = 1_000;
const large = chooseSize("BENCH_LOOKUPS", 100_000, 2_000);
const rounds = chooseSize("BENCH_ROUNDS", 7, 1);
const callsPerRound = 8;

type Side = { readonly url: string; readonly token: string; readonly paths: readonly string[] };

export async function lookups(): Promise<void> {
  await using stack = openStack();
  const few = await openSide(stack, small);
  const many = await openSide(stack, large);
  const rows = [];
  for (const [at, path = ""] of many.paths.entries()) {
    const sides = [few, many] as const;
    const taken: Pair[] = [];
    for (let round = 0; round <= rounds; round++) {
      const pair = await timeInTurns(callsPerRound, async (side) => {
        await look(sides[side], sides[side].paths[at] ?? "");
      });
      if (round > 0) taken.push(pair); // The first warms both up.
    }
    const what = path.replaceAll(/[a-z]{3}_[0-9a-z]{26}/g, "ID");
    rows.push(buildGrowthRow(what, taken, { small, large, goal: "≤ 2" }));
  }
  printTable(rows);
}

async function look({ url, token }: Side, path: string): Promise<void> {
  const answer = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } });
  await answer.text();
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
}

async function openSide(stack: AsyncDisposableStack, size: number): Promise<Side> {
  const dataDir = await mkdtemp(join(tmpdir(), "scripdesk-lookups-"));
  stack.defer(() => rm(dataDir, { recursive: true, force: true }));
  const config = readConfig({ DATA_DIR: dataDir });
  const log = pino({ level: "silent" });
  const now = () => new Date();
  const opened = await openContext(config, { as: "service", create: true, log, now });
  stack.defer(() => opened.close());
  const { ctx } = opened;
  await fill(ctx, size);
  // People are limited to what people do; a measurement is not.
  const window = openLocalRateWindow(() => performance.now() * 1_000);
  const app = await buildOpsApp({ ctx, metrics: createMetrics(ctx.db), window, config });
  await app.listen({ host: "127.0.0.1", port: 0 });
  stack.defer(() => app.close());
  const token = await signInSomebody(ctx);
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  return { url, token, paths: await choosePaths(ctx, size) };
}

async function signInSomebody(ctx: Context): Promise<string> {
  const [name, password] = ["asha", "correct horse battery"];
  const { code } = await addOperator(ctx, namedOperator("bench"), { name, role: "admin" });
  const who = { name, codes: [code], from: commandLine };
  const { ticket, totp_secret } = await beginEnrolment(ctx, { ...who, password });
  const step = computeStep(ctx.now());
  const shown = (at: number) => computeCode(fromBase32(totp_secret), at);
  await confirmEnrolment(ctx, { ...who, ticket, code: shown(step) });
  const from = commandLine;
  return (await signIn(ctx, { name, password, code: shown(step + 1), from })).token;
}

/** The middle one of everything, and each list with and without its filters. */
async function choosePaths({ db }: Context, size: number): Promise<string[]> {
  const one = async (text: string, values: unknown[] = []) => {
    const { rows } = await db.pool.query<{ id: string }>(text, values);
    return rows[0]?.id ?? "";
  };
  const middle = Math.floor(size / 2);
  const order = await one("select order_id as id from orders order by 1 offset $1 limit 1", [
    middle,
  ]);
  const firm = await one("select firm_id as id from orders where order_id = $1", [order]);
  const desk = await one("select desk_id as id from orders where order_id = $1", [order]);
  const iec = await one("select iec as id from firms where firm_id = $1", [firm]);
  const name = await one("select legal_name as id from firms where firm_id = $1", [firm]);
  const scrip = await one("select scrip_no as id from credits where firm_id = $1", [firm]);
  const utr = await one("select utr as id from payouts where utr is not null limit 1");
  const paths = [
    `find?q=${order}`,
    `find?q=${iec}`,
    `find?q=${encodeURIComponent(scrip)}`,
    `find?q=${utr}`,
    `find?q=${encodeURIComponent("Shree Textiles 7")}`,
    `find?q=${encodeURIComponent(name)}`,
    "find?q=exports",
    "find?q=nobody+at+all",
    "today",
    "today?environment=sandbox",
    // No more than either side has.
    "desks?limit=25",
    `desks/${desk}`,
  ];
  for (const list of ["orders", "settlements", "payouts", "credits", "firms"]) {
    const narrowed = [
      "",
      "&environment=live",
      `&desk_id=${desk}`,
      `&firm_id=${firm}`,
      "&from=2026-11-01&to=2026-11-30",
    ];
    paths.push(...narrowed.map((by) => `${list}?limit=50${by}`));
  }
  paths.push("orders?limit=50&status=open", "orders?limit=50&status=failed");
  paths.push("settlements?limit=50&status=pending", "settlements?limit=50&status=failed");
  paths.push("payouts?limit=50&status=held", "payouts?limit=50&environment=live&status=returned");
  paths.push("firms?limit=50&connection_state=action_required", "keys?limit=50");
  paths.push(`settlements?limit=50&order_id=${order}`, `payouts?limit=50&order_id=${order}`);
  // What the console's other pages read.
  paths.push("board?environment=live", "settlements/queue?environment=sandbox&limit=50");
  paths.push(
    "approvals?status=proposed&limit=50",
    "questions?limit=50",
    "webhooks/failures?limit=50",
  );
  paths.push(
    "bank/queue?limit=50",
    "payout-files/preview?environment=live",
    "payout-files?limit=50",
  );
  paths.push(`firm-names?ids=${firm},${desk}`, `firms/${firm}`, `orders/${order}`);
  const only = process.env["BENCH_ONLY"];
  return paths
    .filter((path) => only === undefined || only.split(",").some((some) => path.startsWith(some)))
    .map((path) => `/ops/${path}`);
}

/** Rows as the service would have made them, without their books and events, which no list reads. */
async function fill({ db }: Context, size: number): Promise<void> {
  const client = await db.pool.connect();
  try {
    await client.query("set role none");
    await client.query("set statement_timeout = 0");
    await client.query("set session_replication_role = replica");
    for (const statement of statements) await client.query(statement(size));
    await client.query("analyze");
  } finally {
    client.release(true);
  }
}

/** Ids of this kind are of November 2026, the newest last. */
const at = "timestamptz '2026-11-15 12:00+05:30' + make_interval(secs => n)";
const id = (prefix: string, n = "n") =>
  `'${prefix}_01m7' || lpad((${n})::text, 6, '0') || lpad((${n})::text, 16, '0')`;
const environment = "case when n % 10 = 0 then 'live' else 'sandbox' end";
/** The desk of a row: one desk has a tenth of all, the others share the rest by the hundred. */
const desk = (size: number) =>
  `(case when n % 10 = 0 then 10 when n % 10 = 1 then 1 else ((n % ${Math.max(1, size / 100)}) * 100 + 2 + n % 8) end)`;

const statements: readonly ((size: number) => string)[] = [
  // Every firm that a row names as its desk is one; the others are client firms.
  (size) => `
    insert into firms (firm_id, environment, desk_id, legal_name, iec, pan, connection_state, role,
      checks, version, created_at, updated_at, authorized_at)
    select ${id("frm")}, ${environment}, ${id("frm", desk(size))},
      (array['Shree','Ganesh','Laxmi','Bharat','Om','Sai','Royal'])[1 + n % 7] || ' ' ||
      (array['Textiles','Spices','Garments','Metals','Foods'])[1 + n % 5] || ' ' || n || ' Exports Pvt. Ltd.',
      lpad(n::text, 10, '0'), 'AAACA' || lpad((n % 10000)::text, 4, '0') || chr(65 + n / 10000),
      case when n % 50 = 3 then 'action_required' else 'authorized' end, 'both', '[]', 1, ${at}, ${at}, ${at}
    from generate_series(1, ${size}) as n
    on conflict do nothing`,
  () => "update firms set desk_id = firm_id where firm_id in (select distinct desk_id from firms)",
  (size) => `
    insert into credits (credit_id, environment, desk_id, firm_id, scrip_no, scheme, issued_paise,
      face_paise, issued_on, expires_on, expiry_due_on, state, as_of, version, created_at, updated_at)
    select ${id("crd")}, ${environment}, ${id("frm", desk(size))}, ${id("frm")}, 'SCRIP/' || n, 'RODTEP',
      25000000, 25000000, '2026-01-01', '2028-01-01', '2028-01-01', 'listed', ${at}, 1, ${at}, ${at}
    from generate_series(1, ${size}) as n`,
  (size) => `
    insert into orders (order_id, environment, desk_id, firm_id, key_id, side, scheme, state,
      scrip_no, face_paise, time_in_force, scrip_nos, resting_scrip_nos, covered_paise, dealt_paise,
      price_bps, limit_bps, all_in_paise, settlement_ids, history, rested, version, created_at, updated_at)
    select ${id("ord")}, ${environment}, ${id("frm", desk(size))}, ${id("frm")}, ${id("key")}, 'sell',
      'RODTEP', s.state, 'SCRIP/' || n, 25000000, 'GTC', array['SCRIP/' || n],
      case when s.state = 'open' then array['SCRIP/' || n] else '{}' end, 25000000,
      case when s.state in ('matched', 'failed') then 25000000 else 0 end, 9700, 9700,
      case when s.state in ('matched', 'failed') then 24250000 else 0 end,
      case when s.state in ('matched', 'failed') then array[${id("stl")}] else '{}' end,
      '[]', false, 1, ${at}, ${at}
    from generate_series(1, ${size}) as n
    cross join lateral (select case n % 16 when 4 then 'open' when 5 then 'failed' when 6 then 'cancelled'
      else 'matched' end as state) as s`,
  (size) => `
    insert into settlements (settlement_id, environment, scheme, origin, buyer_desk_id, buyer_firm_id,
      state, face_paise, buyer_paise, due_at, version, created_at, updated_at)
    select ${id("stl")}, ${environment}, 'RODTEP', ${id("ord")}, h.house, h.house, s.state, 25000000,
      24250000, case when s.state = 'pending' then ${at} + interval '400 days' end, 1, ${at}, ${at}
    from generate_series(1, ${size}) as n
    cross join lateral (select case when n % 10 = 0 then 'frm_00000000000000000000000001'
      else 'frm_00000000000000000000000002' end as house) as h
    cross join lateral (select case n % 16 when 4 then 'pending' when 5 then 'failed' else 'settled' end
      as state) as s`,
  (size) => `
    insert into settlement_legs (settlement_id, scrip_no, environment, scheme, dealt_at,
      seller_desk_id, seller_firm_id, seller_order_id, face_paise, seller_bps, buyer_bps, seller_paise,
      buyer_paise, ordinal, state, answered_at)
    select ${id("stl")}, 'SCRIP/' || n, ${environment}, 'RODTEP', ${at}, ${id("frm", desk(size))},
      ${id("frm")}, ${id("ord")}, 25000000, 9700, 9700, 24250000, 24250000, 1,
      case n % 16 when 4 then 'pending' when 5 then 'failed' else 'delivered' end,
      case when n % 16 <> 4 then ${at} end
    from generate_series(1, ${size}) as n`,
  (size) => `
    insert into payouts (payout_id, environment, desk_id, firm_id, settlement_id, paise, rail, ifsc,
      last4, account_id, state, look_at, utr, remitted_with, remitted_paise, history, version, created_at, updated_at)
    select ${id("pay")}, ${environment}, ${id("frm", desk(size))}, ${id("frm")}, ${id("stl")}, 24250000,
      'NEFT', 'HDFC0000001', '0001', 'acc_1', s.state, case when s.state = 'held' then ${at} end,
      case when s.state in ('paid', 'returned') then 'HDFCR5' || lpad(n::text, 10, '0') end,
      case when s.state in ('paid', 'returned') then ${id("pay")} end,
      case when s.state in ('paid', 'returned') then 24250000 end, '[]', 1, ${at}, ${at}
    from generate_series(1, ${size}) as n
    cross join lateral (select case n % 16 when 4 then 'held' when 10 then 'returned' else 'paid' end
      as state) as s`,
  (size) => `
    insert into payout_lines (payout_id, order_id, scrip_no, paise)
    select ${id("pay")}, ${id("ord")}, 'SCRIP/' || n, 24250000
    from generate_series(1, ${size}) as n`,
];
