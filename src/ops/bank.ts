import { Type } from "typebox";

import { assignLine, repeatLine, sendLineBack } from "../bankbook/decide-line.ts";
import {
  findStatementForm,
  listStatementForms,
  removeStatementForm,
  saveStatementForm,
} from "../bankforms/forms.ts";
import { importStatement, previewStatement } from "../bankbook/import-statement.ts";
import { listQueue, listStatements, showBankLine, showStatement } from "../bankbook/list-queue.ts";
import {
  addPayingAccount,
  removePayingAccount,
  showPayingAccount,
} from "../bankbook/paying-account.ts";
import { dayForms, parseStatementFormat, signs } from "../bankbook/read-statement.ts";
import { reconcileBank } from "../bankbook/reconcile-bank.ts";
import { undoAssignment } from "../bankbook/undo-assignment.ts";
import type { Actor } from "../kernel/actor.ts";
import { unprocessable } from "../kernel/failure.ts";
import {
  allowed,
  count,
  day,
  doneOrProposed,
  flag,
  maybeText,
  maybeTime,
  outcome,
  pageList,
  sum,
  text,
} from "./schema.ts";
import {
  cursor,
  id,
  listQuery,
  optional,
  query,
  readQueue,
  takesMachines,
  text as givenText,
  under,
} from "./operation.ts";
import { refuseOwnForm } from "../operators/machine-rules.ts";
import type { Context } from "../platform/context.ts";
import { isWorkbook } from "../platform/sheets/read-xlsx.ts";
import { body, closedEnum, nullable, openEnum, timestamp } from "../platform/http/wire.ts";
import { operation, type Operation } from "../platform/http/operation.ts";
import { bankLineStates, lineActs, lineReasons } from "../bankbook/rules.ts";

const maybeSum = (description: string) =>
  nullable<number | bigint>({ type: "integer", description });

const describeReason = (description: string) =>
  openEnum(
    Object.keys(lineReasons),
    `${description} ${Object.entries(lineReasons)
      .map(([reason, words]) => `\`${reason}\`: ${words}.`)
      .join(" ")}`,
  );

const Reconciled = Type.Object(
  {
    as_of: maybeText("The last day that a statement with balances covers; null before the first."),
    bank_paise: maybeSum("The balance that the bank states; null where it states none."),
    books_paise: sum("What the books say is on it."),
    difference_paise: maybeSum(
      "The bank's balance less that of the books; null where the bank states none.",
    ),
    differences: Type.Array(
      Type.Object({
        what: text("Where the money comes from, in words."),
        amount_paise: sum("How much of the difference it is."),
      }),
      { description: "What the difference comes from; they sum to it." },
    ),
    unexplained_paise: maybeSum(
      "The part of the difference that no line of the bank and no entry explains; null where the bank states no balance.",
    ),
    queued: count("Lines of the bank that wait for a person."),
  },
  { title: "Reconciled", description: "The bank's closing balance against the books." },
);

const lineResult = {
  ordinal: count("The place in the file."),
  line_id: text("The line's id."),
  day: day("The bank's day."),
  direction: text("credit for money that came, debit for money that left."),
  amount_paise: count("The amount in paise."),
  utr: maybeText("The bank's reference (UTR); null without one."),
  status: openEnum(bankLineStates, "Where it went; new while a second person is waited for."),
  reason: describeReason("Why it went there."),
  firm_id: maybeText("The firm that got it; null where none did."),
  deal_id: maybeText("The settlement or cross that it names; null where it names none."),
  proved_by: maybeText(
    "What shows that it came from the firm, its account or its name; null where nothing does.",
  ),
  repeats_line_id: maybeText(
    "The line of an earlier file that it is, or may be; null where there is none.",
  ),
};

const statementFacts = {
  statement_id: text("The statement's id."),
  status: openEnum(["received", "applied"], "received until it is carried out."),
  first_day: day("The day of its first line."),
  last_day: day("The day of its last line."),
  line_count: count("Lines in the file."),
  opening_paise: maybeSum("The balance before the first line; null where the file has none."),
  closing_paise: maybeSum("The balance after the last line; null where the bank states none."),
  received_by: text("The name of whoever imported it."),
  received_at: timestamp("When it was imported."),
  applied_by: maybeText(
    "Who had it carried out, which is the second person where it took two; null before.",
  ),
  applied_at: maybeTime("When it was carried out; null before."),
};

const BankStatement = Type.Object(statementFacts, {
  title: "BankStatement",
  description: "A file of the bank that was imported.",
});

const BankStatements = pageList("statements", BankStatement, "The newest first.");

const ShownBankStatement = Type.Object(
  {
    ...statementFacts,
    lines: Type.Array(
      Type.Object(
        {
          ...lineResult,
          remitter_name: text("Who sent it, as the bank says."),
          remitter_account_masked: text("The end of the account that it came from."),
          narration: text("What the bank wrote about the line."),
          balance_paise: maybeSum("The bank's balance after it; null where the bank states none."),
          decided_by: maybeText("Who assigned it, or sent it back; null where nobody did."),
        },
        { title: "BankLine", description: "A line of the bank, where it went, and why." },
      ),
      { description: "In the order of the file." },
    ),
  },
  { title: "ShownBankStatement", description: "A file of the bank with its lines." },
);

const ImportedStatement = Type.Object(
  {
    statement_id: text("The statement's id."),
    outcome: outcome(
      ["applied", "known", "proposed"],
      "known when it was imported before; proposed waits for a second person.",
    ),
    approval_id: maybeText("The id of the proposal; null where it takes one person."),
    lines: count("Lines in the file."),
    new_lines: count("Lines that no earlier file had."),
    matched: count("Lines that were explained."),
    queued: count("Lines that wait for a person."),
    results: Type.Array(
      Type.Object(lineResult, {
        title: "LineResult",
        description: "Where a line of the bank went, and why.",
      }),
      { description: "Each line of the file, in its order." },
    ),
    reconciled: Reconciled,
  },
  { title: "ImportedStatement", description: "What became of a bank's statement." },
);

const { line_id: _lineId, ...previewedLine } = lineResult;

const PreviewedStatement = Type.Object(
  {
    known: flag("Whether this file was imported before: importing it again does nothing."),
    lines: count("Lines in the file."),
    matched: count("Lines that would be explained."),
    queued: count("Lines that would wait for a person."),
    repeated: count("Lines that an earlier file had, which count once."),
    incoming_paise: count("What it would bring to firms, in paise."),
    people: count("How many people the import takes."),
    opening_paise: maybeSum("The balance before the first line; null where the file has none."),
    closing_paise: maybeSum("The balance after the last line; null where the bank states none."),
    results: Type.Array(
      Type.Object(
        {
          ...previewedLine,
          remitter_name: text("Who sent it, as the bank says."),
          narration: text("What the bank wrote about it."),
        },
        { title: "PreviewedLine", description: "Where a line would go as things are, and why." },
      ),
      { description: "Each line of the file, in its order." },
    ),
  },
  { title: "PreviewedStatement", description: "What importing a bank's statement would do." },
);

const toldLine = {
  line_id: text("The line's id."),
  day: day("The bank's day."),
  direction: text("credit for money that came, debit for money that left."),
  amount_paise: count("The amount in paise."),
  utr: maybeText("The bank's reference (UTR); null without one."),
  status: openEnum(bankLineStates, "The state it is in."),
  reason: maybeText(
    "Why it could not be explained, by the reasons of an import; null where it could.",
  ),
  repeats_line_id: maybeText(
    "The line of an earlier file that it may be; null where there is none.",
  ),
  remitter_name: text("Who sent it, as the bank says."),
  remitter_account_masked: text("The last digits of the account it came from."),
  narration: text("What the bank wrote about it."),
  allowed_actions: allowed(lineActs),
};

const BankLine = Type.Object(
  {
    ...toldLine,
    statement_id: text("The statement that brought it."),
    firm_id: maybeText(
      "The firm that it was assigned to or matched with; null where there is none.",
    ),
    deal_id: maybeText("The settlement or cross that it was for; null where it was for none."),
    decided_by: maybeText("The name of whoever decided about it last; null where nobody did."),
    decided_at: maybeTime("When that was decided; null where nobody did."),
  },
  {
    title: "ToldBankLine",
    description: "A line of the bank, as it is told to whoever decides about it.",
  },
);

const BankQueue = pageList(
  "lines",
  Type.Object(toldLine, {
    title: "QueuedLine",
    description: "A line of the bank that nobody could explain.",
  }),
  "The oldest first.",
);

const AssignedLine = doneOrProposed("AssignedLine", ["assigned"]);
const UndoneAssignment = doneOrProposed("UndoneAssignment", ["queued"]);
const RepeatedLine = doneOrProposed("RepeatedLine", ["repeated"]);
const PayingAccount = Type.Object(
  {
    firm_id: text("The firm's id."),
    account_no_masked: text("The last digits of the number."),
    ifsc: text("The branch's IFSC."),
    name: text("Who holds it, as the bank's letter says."),
    entered_by: text("The name of whoever entered it."),
    entered_at: timestamp("When it was entered."),
    confirmed_by: maybeText("The second person; null while one is waited for."),
    confirmed_at: maybeTime("When money from it began to count; null before it is confirmed."),
  },
  { title: "PayingAccount", description: "A second account that a firm pays from." },
);

const AddedPayingAccount = doneOrProposed("AddedPayingAccount", ["added"]);
const RemovedPayingAccount = Type.Object(
  { outcome: outcome(["removed"], "It proves nothing any more.") },
  { title: "RemovedPayingAccount", description: "What became of the second account." },
);
const ReturnedLine = doneOrProposed("ReturnedLine", ["returning"]);

const bank = under("Bank");
/** Only live money is on the bank account. */
const environment = "live";
/** Fits into a body of 1 MiB. */
const contentLengthMax = 1_000_000;

const heading = (description: string) => givenText(description, 100);

const headings = Type.Object(
  {
    name: heading("What the form is called."),
    day: heading("The heading of the day."),
    reference: heading("The heading of the bank's own reference."),
    narration: heading("The heading of what is written about it."),
    debit: optional(heading("The heading of what left; with `credit`.")),
    credit: optional(heading("The heading of what came in; with `debit`.")),
    amount: optional(heading("The heading of the amount; with `direction`.")),
    direction: optional(heading("The heading of CR or DR; with `amount`.")),
    sign: optional(
      closedEnum(signs, {
        description: "Which amounts have a minus, where the sign says it; with `amount`.",
      }),
    ),
    day_form: optional(
      closedEnum(dayForms, {
        description:
          "The order of day, month and year; days that begin with the day, and ISO days, when left out.",
      }),
    ),
    balance: optional(heading("The heading of the balance after the line.")),
    time: optional(heading("The heading of the time of day, in IST.")),
    remitter_name: optional(heading("The heading of the remitter's name.")),
    remitter_account: optional(heading("The heading of the remitter's account.")),
  },
  {
    additionalProperties: false,
    description: "The headings of the bank's own form; the generic one when left out.",
  },
);

const StatementForm = Type.Object(
  {
    name: text("What the form is called."),
    form: headings,
    saved_by: text("The name of whoever saved it."),
    saved_at: timestamp("When it was saved."),
    version: count("How often a form was saved under this name."),
  },
  { title: "StatementForm", description: "How a bank writes its statements." },
);

const StatementForms = Type.Object(
  { forms: Type.Array(StatementForm, { description: "By their names." }) },
  { title: "StatementForms", description: "The saved forms of banks' statements." },
);

const RemovedForm = Type.Object(
  { outcome: outcome(["removed"], "No import is read by it any more.") },
  { title: "RemovedForm", description: "What became of the form." },
);

const file = {
  content_base64: Type.String({
    minLength: 4,
    maxLength: contentLengthMax,
    pattern: "^[A-Za-z0-9+/]+={0,2}$",
    description: "The file, CSV or .xlsx, in base64; larger ones by the command line.",
  }),
  form: optional(heading("The name of a saved form; or `format`.")),
  format: optional(headings),
};

type GivenFile = {
  readonly content_base64: string;
  readonly form?: string | undefined;
  readonly format?: unknown;
};

async function readFile({ db }: Pick<Context, "db">, actor: Actor, given: GivenFile) {
  const { content_base64, form, format } = given;
  refuseOwnForm(actor, format);
  if (form !== undefined && format !== undefined) {
    throw unprocessable({ path: "form", problem: "cannot be given with format" });
  }
  const text = decodeFile(content_base64);
  if (form !== undefined) {
    return { environment, text, format: await findStatementForm(db, form) } as const;
  }
  return {
    environment,
    text,
    format: format === undefined ? undefined : parseStatementFormat(format),
  } as const;
}

/** The bytes of a workbook, or text. Decodes strictly: invalid UTF-8 is refused, not replaced. */
function decodeFile(contentBase64: string): string | Uint8Array {
  const bytes = new Uint8Array(Buffer.from(contentBase64, "base64"));
  if (isWorkbook(bytes)) return bytes;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw unprocessable({ path: "content_base64", problem: "must be UTF-8 text" });
  }
}

export const bankOperations: readonly Operation[] = [
  operation({
    ...bank.act("importBankStatement", "/ops/bank/statements", "bank.write"),
    config: takesMachines,
    summary:
      "Import the bank's statement: payouts are answered, money in is matched, the rest is queued",
    body: body(file),
    answer: ImportedStatement,
    run: async ({ ctx, actor, wiring: { twoFromPaise } }, asked) =>
      importStatement(ctx, actor, { ...(await readFile(ctx, actor, asked)), twoFromPaise }),
  }),
  operation({
    ...bank.act("previewBankStatement", "/ops/bank/statements/preview", "bank.write"),
    config: takesMachines,
    summary:
      "Show what importing a statement would do: matches, duplicates, the queue; stores nothing",
    body: body(file),
    answer: PreviewedStatement,
    run: async ({ ctx, actor, wiring: { twoFromPaise } }, asked) =>
      previewStatement(ctx, actor, { ...(await readFile(ctx, actor, asked)), twoFromPaise }),
  }),
  operation({
    ...bank.read("listStatementForms", "/ops/bank/forms"),
    summary: "List the saved forms of banks' statements",
    answer: StatementForms,
    run: async ({ ctx }) => ({ forms: await listStatementForms(ctx) }),
  }),
  operation({
    ...bank.act("saveStatementForm", "/ops/bank/forms", "bank.write"),
    summary: "Save the form of a bank's statement under its name, in place of the one that had it",
    body: headings,
    answer: StatementForm,
    run: ({ ctx, actor }, asked) => saveStatementForm(ctx, actor, asked),
  }),
  operation({
    ...bank.act("removeStatementForm", "/ops/bank/forms/:name/remove", "bank.write"),
    summary: "Remove a saved form of a bank's statement",
    answer: RemovedForm,
    run: async ({ ctx, actor }, { name }) => {
      await removeStatementForm(ctx, actor, name);
      return { outcome: "removed" as const };
    },
  }),
  operation({
    ...bank.read("listBankStatements", "/ops/bank/statements"),
    summary: "List the bank's statements that were imported, the newest first",
    query: query({ limit: listQuery.limit, cursor }),
    answer: BankStatements,
    run: ({ ctx }, asked) =>
      readQueue("statements", asked.limit, {
        list: (limit) => listStatements(ctx, { environment, before: asked.cursor, limit }),
        findId: (row) => row.statement_id,
      }),
  }),
  operation({
    ...bank.read("readBankStatement", "/ops/bank/statements/:statement_id", "bank.write"),
    summary: "Read a statement of the bank: where each line went, and why",
    answer: ShownBankStatement,
    run: ({ ctx }, { statement_id }) => showStatement(ctx, statement_id),
  }),
  operation({
    ...bank.read("reconcileBank", "/ops/bank/reconciliation"),
    summary: "Compare the bank's closing balance with the books; every difference has a name",
    answer: Reconciled,
    run: ({ ctx }) => reconcileBank(ctx, environment),
  }),
  operation({
    ...bank.read("listBankQueue", "/ops/bank/queue", "bank.write"),
    summary: "List the bank's lines that nobody could explain, the oldest first",
    query: query({ limit: listQuery.limit, cursor }),
    answer: BankQueue,
    run: ({ ctx }, asked) =>
      readQueue("lines", asked.limit, {
        list: (limit) => listQueue(ctx, { environment, after: asked.cursor, limit }),
        findId: (row) => row.line_id,
      }),
  }),
  operation({
    ...bank.read("readBankLine", "/ops/bank/lines/:line_id", "bank.write"),
    summary: "Read a line of the bank: who sent it, and what the bank wrote about it",
    answer: BankLine,
    run: ({ ctx }, { line_id }) => showBankLine(ctx, line_id),
  }),
  operation({
    ...bank.act("assignBankLine", "/ops/bank/queue/:line_id/assign", "bank.write"),
    summary: "Say whose money of the queue is; large sums take two people",
    body: body({
      to: id("A firm, settlement or cross by its id, or `house` for our own."),
      reason: givenText("How you know, in words, for whoever reads the trail."),
    }),
    answer: AssignedLine,
    run: ({ ctx, actor, wiring: { twoFromPaise } }, { line_id: lineId, to: given, reason }) => {
      const to = given === "house" ? null : given;
      return assignLine(ctx, actor, { lineId, to, reason, twoFromPaise });
    },
  }),
  operation({
    ...bank.act("undoBankAssignment", "/ops/bank/lines/:line_id/undo", "bank.write"),
    summary: "Take an assignment back: the money waits in the queue again; large sums take two",
    body: body({ reason: givenText("Why it was wrong, in words, for whoever reads the trail.") }),
    answer: UndoneAssignment,
    run: ({ ctx, actor, wiring: { twoFromPaise } }, { line_id: lineId, reason }) =>
      undoAssignment(ctx, actor, { lineId, reason, twoFromPaise }),
  }),
  operation({
    ...bank.act("returnBankLine", "/ops/bank/queue/:line_id/return", "bank.write"),
    summary: "Say that money of the queue was sent back; the bank's debit ends it",
    body: body({
      utr: id("The bank's reference (UTR) of the payment back."),
      reason: givenText("The reason in words."),
    }),
    answer: ReturnedLine,
    run: ({ ctx, actor, wiring: { twoFromPaise } }, { line_id: lineId, ...told }) =>
      sendLineBack(ctx, actor, { lineId, ...told, twoFromPaise }),
  }),
  operation({
    ...bank.act("repeatBankLine", "/ops/bank/queue/:line_id/repeat", "bank.write"),
    summary:
      "Say that a line of the queue is one that an earlier file had; large sums take two people",
    body: body({ reason: givenText("How you know, in words, for whoever reads the trail.") }),
    answer: RepeatedLine,
    run: ({ ctx, actor, wiring: { twoFromPaise } }, { line_id: lineId, reason }) =>
      repeatLine(ctx, actor, { lineId, reason, twoFromPaise }),
  }),
  operation({
    ...bank.read("showPayingAccount", "/ops/firms/:firm_id/paying-account"),
    summary: "Show the second account that a firm pays from; the number stays masked",
    answer: PayingAccount,
    run: ({ ctx }, asked) => showPayingAccount(ctx, asked.firm_id),
  }),
  operation({
    ...bank.act("addPayingAccount", "/ops/firms/:firm_id/paying-account", "bank.write"),
    summary: "Say that a firm pays from a second account too; in live this takes two people",
    body: body({
      account_no: givenText("The whole account number.", 40),
      ifsc: givenText("The branch's IFSC.", 20),
      name: givenText("Who holds it, as the bank's letter says.", 200),
      reason: givenText("How you know, in words, for whoever reads the trail."),
    }),
    answer: AddedPayingAccount,
    run: ({ ctx, actor }, { firm_id: firmId, account_no: accountNo, ...given }) =>
      addPayingAccount(ctx, actor, { firmId, accountNo, ...given }),
  }),
  operation({
    ...bank.act("removePayingAccount", "/ops/firms/:firm_id/paying-account/remove", "bank.write"),
    summary: "Take the second account of a firm away",
    body: body({ reason: givenText("The reason in words.") }),
    answer: RemovedPayingAccount,
    run: ({ ctx, actor }, { firm_id: firmId, reason }) =>
      removePayingAccount(ctx, actor, { firmId, reason }),
  }),
];
