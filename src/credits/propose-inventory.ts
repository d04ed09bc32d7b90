// What the house adds to sell counts on the operator's word alone, so a large face takes two people.

import { createHash } from "node:crypto";

import { actWithApproval } from "../approvals/act-with-approval.ts";
import { type ApprovalKind, type Terms, validHoursUsual } from "../approvals/kind.ts";
import { aloneTimes, twoPeopleFromPaise } from "../approvals/rules.ts";
import { type Actor, operator } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { canonicalJson } from "../kernel/json.ts";
import { istDay } from "../kernel/time.ts";
import type { Context } from "../platform/context.ts";
import { mapPaced, openPace, runPaced } from "../platform/pace.ts";
import type { Tx } from "../platform/postgres.ts";
import {
  houseOf,
  type InventoryItem,
  judgeItems,
  takeInventory,
  takeInventoryReport,
} from "./add-inventory.ts";
import { readReport } from "./csv.ts";
import { judged } from "./import-credits.ts";
import { csvRowsMax, type DeclarationResults, type ImportResults } from "./schema.ts";
import type { CreditFacts } from "./rules.ts";
import { lookAtDeclarations } from "./take-declarations.ts";

/** Credits one by one, or as a report of the customs portal. */
export type Inventory = { readonly items: readonly InventoryItem[] } | { readonly csv: string };

type Adding = Terms & { readonly items?: readonly InventoryItem[]; readonly csv?: string };

export type AddedInventory =
  | { readonly outcome: "proposed"; readonly approval_id: string }
  | { readonly outcome: "done"; readonly results: DeclarationResults | ImportResults };

export async function addInventoryWithApproval(
  ctx: Pick<Context, "db" | "now">,
  actor: Actor,
  {
    environment,
    inventory,
    twoFromPaise = twoPeopleFromPaise,
  }: {
    readonly environment: Environment;
    readonly inventory: Inventory;
    readonly twoFromPaise?: number;
  },
): Promise<AddedInventory> {
  const terms: Adding = { ...inventory };
  const value = await ctx.db.transaction(async (tx) => {
    const { facePaise } = await lookAt(tx, { environment, terms, now: ctx.now() });
    return facePaise;
  });
  const acted = await actWithApproval(ctx, actor, {
    kind: inventoryAddition,
    environment,
    subjectId: createHash("sha256").update(canonicalJson(terms)).digest("hex").slice(0, 40),
    terms,
    people: value >= twoFromPaise ? 2 : 1,
    alonePerDayPaise: twoFromPaise * aloneTimes,
  });
  if (acted.outcome === "proposed") {
    return { outcome: "proposed", approval_id: acted.approval.approval_id };
  }
  // What the kind answers.
  const results = acted.answer as DeclarationResults | ImportResults;
  return { outcome: "done", results };
}

export const inventoryAddition: ApprovalKind<Adding> = {
  name: "inventory.add",
  proposers: ["dealer", "settlement"],
  approvers: ["dealer", "settlement"],
  validHours: validHoursUsual,
  async prepare(tx, { environment, terms }, now) {
    const { facePaise, isNew } = await lookAt(tx, { environment, terms, now });
    const numbers = isNew.map(({ scrip_no }) => scrip_no);
    const some = numbers.slice(0, 5).join(", ") + (numbers.length > 5 ? ", …" : "");
    return {
      summary: `${numbers.length} credits of ${facePaise} paise of face become the house's to sell: ${some}`,
      valuePaise: facePaise,
      facts: { numbers, facePaise },
      async carryOut(actor) {
        const taken =
          terms.csv === undefined
            ? await takeInventory(tx, actor, { environment, items: terms.items ?? [], now })
            : await takeInventoryReport(tx, actor, { environment, csv: terms.csv, now });
        return { changes: [], answer: taken };
      },
    };
  },
};

type Look = {
  readonly environment: Environment;
  readonly terms: Adding;
  readonly now: Date;
};

/** What of it is not the house's yet; nothing is written. */
async function lookAt(tx: Tx, { environment, terms, now }: Look) {
  const firm = await houseOf(tx, environment);
  const declared = await readDeclared(terms, now);
  const taking = {
    firm,
    actor: operator,
    vouched: true,
    mode: { followsBalance: true },
    now,
  } as const;
  const outcomes = await lookAtDeclarations(tx, taking, declared);
  const isNew = declared.filter(
    (facts, index): facts is CreditFacts =>
      !(facts instanceof Failure) && outcomes[index]?.kind !== "known",
  );
  const sum = isNew.reduce((total, { face_paise }) => total + face_paise, 0);
  return { isNew, facePaise: Math.min(sum, Number.MAX_SAFE_INTEGER) };
}

async function readDeclared(
  { items = [], csv }: Adding,
  now: Date,
): Promise<(CreditFacts | Failure)[]> {
  const today = istDay(now);
  if (csv === undefined) return judgeItems(items, today);
  const pace = openPace();
  const reading = readReport(csv, { iec: undefined, rowsMax: csvRowsMax });
  const { rows } = await runPaced(reading, pace);
  return await mapPaced(rows, ({ declared }) => judged(declared, today), pace);
}
