// A small call beside each heavy request. The small one is `whoami` with a live key, one after the
// other; the heavy ones come from a sandbox desk. What is told: how long the small call took with
// nothing beside it and with the heavy requests, what failed, and what memory the service took more.
//
// To measure another heavy request, add it to `heavyRequests`.

import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

import { pino } from "pino";
import { request } from "undici";

import { readConfig } from "../../src/config.ts";
import { addDeposit } from "../../src/deposits/add-deposit.ts";
import { operator } from "../../src/kernel/actor.ts";
import { issueKey } from "../../src/keys/issue-key.ts";
import { openContext } from "../../src/open-context.ts";
import { setPlan } from "../../src/usage/set-plan.ts";
import { addCredits, addFirm } from "../support/holdings.ts";
import { stockHouse } from "../support/inventory.ts";
import type { Running } from "../support/process.ts";

export type StallSystem = {
  readonly liveKey: string;
  /** The desk that asks for heavy things. */
  readonly key: string;
  readonly deskId: string;
  readonly groupPath: string;
  readonly clientId: string;
};

type Beside = StallSystem & Pick<Running, "url" | "send">;

export type HeavyRequest = {
  readonly name: string;
  /** Sends the heavy requests and answers with their statuses; 0 for one that was given up. */
  send(system: Beside): Promise<readonly number[]>;
};

const oddFace = (at: number) => 1_000_003 + 7_919 * at;
const lines = 4_000;
const stock = 2_000;

export const heavyRequests: readonly HeavyRequest[] = [
  {
    name: "500 buys by batch on 2,000 odd faces",
    async send({ send, key }) {
      const orders = Array.from({ length: 500 }, (_, at) => ({
        side: "buy",
        scheme: "RODTEP",
        requirement_paise: 8_000_011 + 977 * at,
      }));
      const headers = { "x-dry-run": "1" };
      return [(await send("POST", "/v1/orders:batch", { key, body: { orders }, headers })).status];
    },
  },
  {
    name: "30 buy quotes on them at once",
    send: ({ send, key }) =>
      all(30, async (at) => {
        const body = { side: "buy", scheme: "RODTEP", requirement_paise: 80_000_011 + 977 * at };
        return (await send("POST", "/v1/quote", { key, body })).status;
      }),
  },
  {
    name: "6 statements of 4,000 lines as PDF",
    send: ({ send, key, deskId }) =>
      all(6, async () => {
        const month = new Date().toISOString().slice(0, 7);
        const path = `/v1/statements/${month}?format=pdf&firm_id=${deskId}`;
        return (await send("GET", path, { key })).status;
      }),
  },
  {
    name: "4 nettings of 2,000 × 300, given up",
    send: ({ url, key, groupPath }) =>
      all(4, async () => {
        const signal = AbortSignal.timeout(3_000);
        return await request(`${url}${groupPath}/netting`, {
          headers: { "x-service-key": key },
          signal,
        }).then(
          async ({ statusCode, body }) => (await body.dump(), statusCode),
          () => 0,
        );
      }),
  },
  {
    name: "an import of 5,000 rows",
    async send({ send, key, clientId }) {
      const rows = Array.from(
        { length: 5_000 },
        (_, at) => `IMPORT${at}1,RODTEP,1000,2026-01-01,2027-12-31`,
      );
      const csv = ["Scrip No,Scheme,Amount,Issue Date,Expiry Date", ...rows].join("\n");
      const path = `/v1/firms/${clientId}/credits:import`;
      return [
        (await send("POST", path, { key, body: { csv }, headers: { "x-dry-run": "1" } })).status,
      ];
    },
  },
  {
    name: "an export of the audit trail",
    send: async ({ send, key }) => [(await send("GET", "/v1/audit/export", { key })).status],
  },
];

async function all(count: number, one: (at: number) => Promise<number>): Promise<number[]> {
  return await Promise.all(Array.from({ length: count }, (_, at) => one(at)));
}

/** A live desk, and a sandbox desk with all that makes requests heavy. */
export async function openStallSystem(
  { send }: Pick<Running, "send">,
  dataDir: string,
): Promise<StallSystem> {
  const opened = await openContext(readConfig({ DATA_DIR: dataDir }), {
    as: "visitor",
    create: false,
    log: pino({ level: "silent" }),
    now: () => new Date(),
  });
  const { ctx } = opened;
  try {
    await setPlan(ctx, { name: "stall", perMinute: 1_000_000, monthlyQuota: 100_000_000 });
    const issue = async (environment: "live" | "sandbox") =>
      await issueKey(ctx, {
        firmName: `Stall ${environment}`,
        environment,
        scopes: ["*"],
        plan: "stall",
        buySide: true,
        name: "stall",
      });
    const live = await issue("live");
    const { api_key: key, firm_id: deskId } = await issue("sandbox");
    for (let from = 0; from < stock; from += 500) {
      const faces = Array.from({ length: 500 }, (_, at) => ({ face_paise: oddFace(from + at) }));
      await stockHouse(ctx, faces);
    }
    for (let from = 0; from < lines; from += 50) {
      await all(50, async (at) => {
        const reference = `STALL${String(from + at).padStart(17, "0")}`;
        const deposit = { environment: "sandbox", firmId: deskId, paise: 100, reference } as const;
        await addDeposit(ctx, operator, deposit);
        return 0;
      });
    }
    const made = await send("POST", "/v1/groups", { key, body: { name: "Stall" }, expect: 201 });
    const groupPath = `/v1/groups/${made.body.group_id}`;
    const clientId = await addFirm({ ctx }, { deskId });
    await send("PUT", `${groupPath}/members/${clientId}`, { key, expect: 200 });
    const held = Array.from({ length: 2_000 }, (_, at) => ({
      firmId: clientId,
      scheme: "RODTEP" as const,
      facePaise: oddFace(at),
      expiresOn: "2099-01-01",
      state: "listed",
    }));
    await addCredits({ ctx }, deskId, held);
    const due_on = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
    for (let from = 0; from < 300; from += 20) {
      await all(20, async (at) => {
        const owed = { amount_paise: 20_000_011 + 977 * (from + at), reference: `B${from + at}` };
        const body = { scheme: "RODTEP", due_on, ...owed };
        const path = `/v1/firms/${clientId}/requirements`;
        return (await send("POST", path, { key, body, expect: 201 })).status;
      });
    }
    return { liveKey: live.api_key, key, deskId, groupPath, clientId };
  } finally {
    await opened.close();
  }
}

export type StallRow = {
  readonly name: string;
  readonly idle: Times;
  readonly during: Times;
  /** Small calls that were not answered 200, and heavy ones that were answered 5xx. */
  readonly failed: number;
  readonly statuses: string;
  readonly moreMib: number;
};

type Times = { readonly p50: number; readonly p99: number; readonly max: number };

const idleCalls = 200;
const callsMax = 20_000;

export async function measureStall(
  running: Running,
  system: StallSystem,
  heavy: HeavyRequest,
): Promise<StallRow> {
  const small = async () => {
    const begunMs = performance.now();
    const status = await running
      .send("GET", "/v1/whoami", { key: system.liveKey })
      .then((answer) => answer.status)
      .catch(() => 0);
    return { ms: performance.now() - begunMs, ok: status === 200 };
  };
  const idle: number[] = [];
  for (let call = 0; call < idleCalls; call++) idle.push((await small()).ms);
  const before = await residentMib(running.pid);
  const heard: { statuses?: readonly number[] } = {};
  const { url, send } = running;
  const sent = heavy.send({ ...system, url, send }).then((answers) => (heard.statuses = answers));
  const during: number[] = [];
  let failed = 0;
  let most = before;
  for (let call = 0; call < callsMax && !heard.statuses; call++) {
    const { ms, ok } = await small();
    during.push(ms);
    if (!ok) failed += 1;
    if (call % 20 === 0) most = Math.max(most, await residentMib(running.pid));
    await sleep(2);
  }
  const answered = await sent;
  failed += answered.filter((status) => status >= 500).length;
  return {
    name: heavy.name,
    idle: timesOf(idle),
    during: timesOf(during),
    failed,
    statuses: [...new Set(answered)].join(" "),
    moreMib: most - before,
  };
}

/** A small call is not slowed for others: five times idle, or a tenth of a second. */
export function isHeld({ idle, during, failed, moreMib }: StallRow): boolean {
  return during.p99 <= Math.max(5 * idle.p99, 100) && failed === 0 && moreMib <= 200;
}

export function stallTable(rows: readonly StallRow[]): string {
  const ms = ({ p50, p99, max }: Times) =>
    [p50, p99, max].map((time) => time.toFixed(1)).join(" / ");
  return [
    "| heavy request | idle p50 / p99 / max ms | during p50 / p99 / max ms | failed | heavy answers | MiB more | held |",
    "|---|---|---|---|---|---|---|",
    ...rows.map((row) =>
      [
        "",
        row.name,
        ms(row.idle),
        ms(row.during),
        row.failed,
        row.statuses,
        row.moreMib.toFixed(0),
        isHeld(row) ? "yes" : "no",
        "",
      ]
        .join(" | ")
        .trim(),
    ),
  ].join("\n");
}

function timesOf(times: readonly number[]): Times {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? 0 };
}

async function residentMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1_024;
}
