// The plans by which statements were run, as the server itself tells them (auto_explain), and what is
// wrong with one: it reads a whole large table, or much more than it needs.

import type pg from "pg";

import type { Database } from "../../src/platform/postgres/postgres.ts";
import { asOwner } from "../support/database.ts";

export type PlanNode = {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly "Rows Removed by Join Filter"?: number;
  readonly Plans?: readonly PlanNode[];
};

export type Run = { readonly text: string; readonly ms: number; readonly plan: PlanNode };

/** What one statement did over all its runs; the run that read most speaks for it. */
export type Judged = {
  readonly text: string;
  readonly runs: number;
  readonly slowestMs: number;
  readonly rowsRead: number;
  readonly rowsNeeded: number;
  readonly nodes: string;
  readonly faults: readonly string[];
  /** Why it may read more than it needs, where it does. */
  readonly allowedFor: string | undefined;
};

/** What goes through rows may look each up in two other tables. */
const readsPerRow = 3;

const settings = {
  session_preload_libraries: "auto_explain",
  "auto_explain.log_min_duration": "0",
  "auto_explain.log_analyze": "on",
  "auto_explain.log_timing": "off",
  "auto_explain.log_format": "json",
  "auto_explain.log_level": "notice",
};

export type Limits = {
  /** Tables of more rows are large: one that is read whole is a fault. */
  readonly largeTable: number;
  /** So many rows may be read whatever is needed, and so many for each one that is. */
  readonly rowsFree: number;
  readonly rowsPerNeeded: number;
  /** How many rows of a kind the largest desk has. */
  readonly deskRows: number;
};

type Allowed = {
  readonly text: RegExp;
  readonly why: string;
  /** Whether it goes through rows of a desk, and no others. */
  readonly isOfDesk?: true;
  /** Whether it goes through so many rows at a time. */
  readonly rowsMax?: number;
};

export const largeLimits: Omit<Limits, "deskRows"> = {
  largeTable: 10_000,
  rowsFree: 1_000,
  rowsPerNeeded: 20,
};

/** What reads more than it gives, and why that is right. */
const allowed: readonly Allowed[] = [
  {
    text: /^\s*with viewer as [^]*::text is null or/,
    why: "the list of settlements goes through its desk's for those that its filters let pass",
    isOfDesk: true,
  },
  {
    text: /o\.covered_paise - o\.dealt_paise </,
    why: "goes through the resting sells of a scheme",
  },
  {
    text: /insert into market_depths/,
    why: "adds up all that the house has to sell, when that has changed",
  },
  {
    text: /with looked as materialized/,
    why: "goes through the subscriptions, five hundred at a time",
    rowsMax: 500,
  },
];

/** How many statements needed each allowance; one that none needs is to be taken away. */
export function countAllowed(judged: readonly Judged[]): ReadonlyMap<string, number> {
  return new Map(
    allowed.map(({ why }) => {
      const excused = judged.filter(({ allowedFor }) => allowedFor === why);
      return [why, new Set(excused.map(({ text }) => text)).size];
    }),
  );
}

/** Every connection that is opened from now on tells the plan of each statement it runs. */
export async function recordPlans(db: Database): Promise<{ take(): Run[] }> {
  let runs: Run[] = [];
  await asOwner(db, async (owner) => {
    const name = db.pool.options.database;
    for (const [setting, value] of Object.entries(settings)) {
      await owner.query(`alter database ${name} set ${setting} = '${value}'`);
    }
  });
  db.pool.on("connect", (client) => {
    client.on("notice", ({ message }) => {
      const told = /^duration: ([\d.]+) ms {2}plan:\n(.*)$/s.exec(message ?? "");
      if (!told) return;
      const { "Query Text": text, Plan: plan } = JSON.parse(told[2] ?? "") as Explained;
      runs.push({ text, plan, ms: Number(told[1]) });
    });
  });
  return {
    take() {
      const taken = runs;
      runs = [];
      return taken;
    },
  };
}

type Explained = { readonly "Query Text": string; readonly Plan: PlanNode };

/** How many rows each table has, counted: there are no statistics to ask. */
export async function countRows(owner: pg.Client): Promise<ReadonlyMap<string, number>> {
  const { rows: tables } = await owner.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'public' order by 1",
  );
  const counts = new Map<string, number>();
  for (const { name } of tables) {
    const { rows } = await owner.query<{ n: string }>(`select count(*) as n from ${name}`);
    counts.set(name, Number(rows[0]?.n));
  }
  return counts;
}

/** By statement, the worst first. */
export function judge(
  runs: readonly Run[],
  tableRows: ReadonlyMap<string, number>,
  limits: Limits,
): Judged[] {
  const byText = new Map<string, Run[]>();
  for (const run of runs) byText.set(run.text, [...(byText.get(run.text) ?? []), run]);
  const judged = [...byText.values()].map((ofText) => judgeStatement(ofText, tableRows, limits));
  return judged.toSorted((a, b) => b.rowsRead - a.rowsRead);
}

function judgeStatement(
  runs: readonly Run[],
  tableRows: ReadonlyMap<string, number>,
  limits: Limits,
): Judged {
  const excess = ({ read, needed }: { readonly read: number; readonly needed: number }) =>
    read - limits.rowsFree - limits.rowsPerNeeded * needed;
  const weighed = runs.map((run) => {
    const nodes = flatten(run.plan);
    return { run, nodes, read: sum(nodes.map(rowsReadBy)), needed: rowsNeededBy(nodes) };
  });
  const worst = weighed.reduce((one, other) => (excess(other) > excess(one) ? other : one));
  const isLarge = (table = "") => (tableRows.get(table) ?? 0) > limits.largeTable;
  const large = weighed.flatMap(({ nodes }) =>
    nodes.filter((node) => isWholeRead(node) && isLarge(node["Relation Name"])),
  );
  const whole = new Set(large.map((node) => `reads all of ${node["Relation Name"]}`));
  const sizes = worst.nodes.map((node) => tableRows.get(node["Relation Name"] ?? "") ?? 0);
  const isExcessive = excess(worst) > 0;
  const allowance = allowed.find(({ text, isOfDesk, rowsMax = Infinity }) => {
    const rows = Math.min(rowsMax, isOfDesk ? limits.deskRows : Math.max(...sizes));
    return text.test(worst.run.text) && worst.read <= readsPerRow * rows;
  });
  return {
    text: worst.run.text,
    runs: runs.length,
    slowestMs: Math.max(...runs.map(({ ms }) => ms)),
    rowsRead: worst.read,
    rowsNeeded: worst.needed,
    nodes: describeReads(worst.nodes),
    faults: [
      ...whole,
      ...(isExcessive && !allowance
        ? [`reads ${worst.read} rows where ${worst.needed} are needed`]
        : []),
    ],
    allowedFor: isExcessive ? allowance?.why : undefined,
  };
}

function flatten(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(flatten)];
}

/** A bitmap's rows are counted where they are fetched. */
function rowsReadBy(node: PlanNode): number {
  const type = node["Node Type"];
  const isRead = node["Relation Name"] !== undefined && type !== "ModifyTable";
  const removed =
    (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Index Recheck"] ?? 0);
  const compared = (node["Rows Removed by Join Filter"] ?? 0) * node["Actual Loops"];
  if (!isRead) return compared;
  return (node["Actual Rows"] + removed) * node["Actual Loops"] + compared;
}

/** What comes out, what is written and what was asked about: whichever is most. */
function rowsNeededBy(nodes: readonly PlanNode[]): number {
  const [top] = nodes;
  const asked = nodes.filter((node) => node["Node Type"] === "Function Scan");
  const written = nodes.filter((node) => node["Node Type"] === "ModifyTable");
  const children = written.flatMap((node) => node.Plans ?? []);
  return Math.max(...[top, ...asked, ...children].map((node) => (node ? rowsOut(node) : 0)));
}

function rowsOut(node: PlanNode): number {
  return Math.round(node["Actual Rows"] * node["Actual Loops"]);
}

function isWholeRead(node: PlanNode): boolean {
  return node["Node Type"] === "Seq Scan" && node["Actual Loops"] > 0;
}

const partRead: Readonly<Record<string, string>> = {
  "Seq Scan": "all",
  "Tid Range Scan": "blocks",
};

/** The indexes and tables that were read, those with most rows first. */
function describeReads(nodes: readonly PlanNode[]): string {
  const reads = nodes.flatMap((node) => {
    const part = partRead[node["Node Type"]];
    const name = part ? `${part} of ${node["Relation Name"]}` : node["Index Name"];
    return name === undefined ? [] : [{ name, rows: Math.round(rowsReadBy(node)) }];
  });
  const most = reads.toSorted((a, b) => b.rows - a.rows).slice(0, 4);
  return most.map(({ name, rows }) => `${name} ${rows}`).join(", ");
}

function sum(values: readonly number[]): number {
  return Math.round(values.reduce((total, value) => total + value, 0));
}
