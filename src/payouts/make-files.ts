// Puts due payouts without holds into one file per rail. The file and the `instructed` state of its
// payouts commit together, and the bytes are computed from the committed rows, so they can be read
// again after a crash.
//
// A file over the limit is a proposal until a second person approves it; if a payout in it has changed
// by then, the proposal is void.

import { findSealedAccounts } from "../firms/bank-accounts.ts";
import type { Actor, Change } from "../kernel/actor.ts";
import type { Environment } from "../kernel/caller.ts";
import { Failure } from "../kernel/failure.ts";
import { houseFirmId, newId } from "../kernel/ids.ts";
import { splitByAmount, sumParts, rupeesText } from "../kernel/money.ts";
import { actWithApproval } from "../operators/act-with-approval.ts";
import { type ApprovalKind, type Prepared, validHoursUsual } from "../operators/approval-kind.ts";
import { aloneLimitFactor, twoPeopleFromPaise } from "../operators/approval-rules.ts";
import type { Context } from "../platform/context.ts";
import type { Tx } from "../platform/postgres/postgres.ts";
import { type FileFormat, genericFormat, buildRemittanceReference } from "./file-rules.ts";
import { type FileRow, insertFileItems, insertFileLines, insertFiles } from "./file-store.ts";
import {
  instructPayouts,
  type KeptPayout,
  lockRemittances,
  type PlannedRemittance,
  previewRemittances,
} from "./remittances.ts";
import { rails } from "./rules.ts";

type MakeFiles = {
  readonly environment: Environment;
  readonly format?: FileFormat | undefined;
  /** Files of this sum or more take two people. */
  readonly twoFromPaise?: number | undefined;
};

type MadeFile = {
  readonly rail: string;
  readonly paise: number;
  readonly outcome: "made" | "proposed";
  /** Null while it is proposed. */
  readonly file_id: string | null;
  /** The proposal, where it takes a second person. */
  readonly approval_id: string | null;
};

export async function makeFiles(
  ctx: Pick<Context, "db" | "now">,
  operator: Actor,
  { environment, format = genericFormat, twoFromPaise = twoPeopleFromPaise }: MakeFiles,
): Promise<MadeFile[]> {
  if (environment === "sandbox") {
    throw new Failure("conflict", "the sandbox pays by itself", {
      detail: { reason: "sandbox_pays_itself" },
    });
  }
  const { files } = await previewFiles(ctx, environment);
  const made: MadeFile[] = [];
  for (const { rail, paise, remittances } of files) {
    const payouts = remittances.flatMap((remittance) => remittance.payouts);
    const acting = actWithApproval(ctx, operator, {
      kind: payoutFileMaking,
      environment,
      subjectId: `${rail} file`,
      terms: { rail, format, payout_ids: payouts.map(({ payout_id }) => payout_id).toSorted() },
      people: paise >= twoFromPaise ? 2 : 1,
      // Limits the sum of small files that one person makes in a day.
      alonePerDayPaise: twoFromPaise * aloneLimitFactor,
    });
    const acted = await acting.catch((error: unknown) => {
      if (isNothingDue(error)) return undefined; // Another call has put the payouts into a file.
      throw error;
    });
    if (!acted) continue;
    const isMade = acted.outcome === "done";
    made.push({
      rail,
      paise,
      outcome: isMade ? "made" : "proposed",
      file_id: isMade ? parseFileId(acted.answer) : null,
      approval_id: isMade ? null : acted.approval_id,
    });
  }
  return made;
}

const nothingDue = "nothing_due";

type FileTerms = {
  readonly rail: string;
  readonly format: FileFormat;
  readonly payout_ids: readonly string[];
};

export const payoutFileMaking: ApprovalKind<FileTerms> = {
  name: "payout_file.make",
  proposers: ["settlement"],
  approvers: ["settlement"],
  validHours: validHoursUsual,
  async prepare(tx, { environment, terms }, now): Promise<Prepared> {
    const { rail, format, payout_ids } = terms;
    const plan = await lockRemittances(tx, { environment, payoutIds: payout_ids }, now);
    // A remittance that shrank may now belong to another rail; it waits for the next run.
    const own = plan.remittances.filter((remittance) => remittance.rail === rail);
    if (own.length === 0) {
      throw new Failure("conflict", `nothing is due by ${rail}`, {
        detail: { reason: nothingDue, rail },
      });
    }
    const paise = sumParts(own.map((remittance) => remittance.paise));
    return {
      summary: `${own.length} ${rail} payments of ${rupeesText(paise)} rupees leave in one file`,
      valuePaise: paise,
      facts: { rail, format, lines: own.map(toFacts) },
      shows: [{ title: "Payments", rows: own.map(viewRemittance) }],
      async carryOut(actor) {
        const file: FileRow = {
          file_id: newId("fil", now),
          environment,
          rail,
          format,
          state: "live",
          line_count: own.length,
          paise,
          sha256: null,
          made_by: actor.id,
          made_at: now,
          voided_by: null,
          voided_at: null,
          void_reason: null,
          version: 1,
        };
        const changes = await storeFile(tx, file, own);
        const answer = { file_id: file.file_id, rail, lines: own.length, paise };
        return { changes: [...changes, buildFileChange("make", file)], answer };
      },
    };
  },
};

type PlannedFile = {
  readonly rail: string;
  readonly paise: number;
  readonly remittances: readonly PlannedRemittance[];
};

type Preview = {
  readonly files: readonly PlannedFile[];
  readonly kept: readonly KeptPayout[];
};

/** The files that would be made now, by rail, and the due payouts that would be left out. */
export async function previewFiles(
  ctx: Pick<Context, "db" | "now">,
  environment: Environment,
): Promise<Preview> {
  const { remittances, kept } = await previewRemittances(ctx.db, environment, ctx.now());
  const byRail = Map.groupBy(remittances, ({ rail }) => rail);
  const files = rails.flatMap((rail) => {
    // A file is one amount; what comes to more waits for the next run.
    const [own] = splitByAmount(byRail.get(rail) ?? []);
    return own ? [{ rail, paise: sumParts(own.map(({ paise }) => paise)), remittances: own }] : [];
  });
  return { files, kept };
}

/** The preview without account numbers, and with ids of payouts only. */
export function viewPreview({ files, kept }: Preview) {
  return {
    files: files.map(({ rail, paise, remittances }) => ({
      rail,
      amount_paise: paise,
      remittances: remittances.map(viewRemittance),
    })),
    kept: kept.map(({ payoutId, paise: amount_paise, reason }) => ({
      payout_id: payoutId,
      amount_paise,
      reason,
    })),
  };
}

function viewRemittance({ firmId, paise, ifsc, last4, payouts }: PlannedRemittance) {
  return {
    firm_id: firmId,
    amount_paise: paise,
    ifsc,
    account_last4: last4,
    payout_ids: payouts.map(({ payout_id }) => payout_id),
  };
}

/** Files belong to the house: their changes are recorded on its desk. */
export function buildFileChange(
  action: "make" | "read" | "answer" | "void",
  after: FileRow,
): Change {
  const house = houseFirmId[after.environment];
  return {
    environment: after.environment,
    deskId: house,
    firmId: house,
    action: `payout_file.${action}`,
    entity: {
      type: "payout_file",
      id: after.file_id,
      version: after.version,
      href: `/ops/payout-files/${after.file_id}`,
    },
    after: toAuditFacts(after),
  };
}

function isNothingDue(error: unknown): boolean {
  return error instanceof Failure && error.detail?.["reason"] === nothingDue;
}

function parseFileId(answer: object | undefined): string {
  if (answer && "file_id" in answer && typeof answer.file_id === "string") return answer.file_id;
  throw new Error("a file that was made has an id");
}

/** The facts that a second person approves: payee, amount, account and payouts. */
function toFacts({ payouts, ...remittance }: PlannedRemittance) {
  return { ...remittance, payouts: payouts.map(({ payout_id }) => payout_id) };
}

async function storeFile(tx: Tx, file: FileRow, remittances: readonly PlannedRemittance[]) {
  const { file_id, environment, made_at: now } = file;
  const { leadIds, changes } = await instructPayouts(tx, environment, remittances, now);
  const accounts = await findSealedAccounts(
    tx,
    remittances.map(({ firmId }) => firmId),
  );
  await insertFiles(tx, [file]);
  const lines = remittances.map(({ firmId, paise }, at) => {
    const account = accounts.get(firmId);
    if (!account) throw new Error("who is paid has an account");
    const leadId = leadIds[at] ?? "";
    return {
      file_id,
      ordinal: at + 1,
      lead_id: leadId,
      firm_id: firmId,
      paise,
      reference: buildRemittanceReference(file_id, leadId),
      account_sealed: account.accountSealed,
      ifsc: account.ifsc,
      account_name: account.accountName,
      state: "live" as const,
    };
  });
  await insertFileLines(tx, lines);
  const items = remittances.flatMap(({ payouts }, at) =>
    payouts.map(({ payout_id }) => ({ file_id, ordinal: at + 1, payout_id })),
  );
  await insertFileItems(tx, items);
  return changes;
}

function toAuditFacts(row: FileRow) {
  const { file_id, rail, state, line_count, paise, void_reason } = row;
  return { file_id, rail, state, line_count, paise, void_reason };
}
