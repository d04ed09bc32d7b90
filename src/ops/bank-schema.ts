import { Type } from "typebox";

import { bankLineStates, lineReasons } from "../bankbook/rules.ts";
import { nullable, openEnum, timestamp } from "../platform/http/wire.ts";
import {
  count,
  day,
  doneOrProposed,
  flag,
  maybeText,
  maybeTime,
  outcome,
  sum,
  text,
  pageList,
} from "./schema.ts";

const maybeSum = (description: string) =>
  nullable<number | bigint>({ type: "integer", description });

const describeReason = (description: string) =>
  openEnum(
    Object.keys(lineReasons),
    `${description} ${Object.entries(lineReasons)
      .map(([reason, words]) => `\`${reason}\`: ${words}.`)
      .join(" ")}`,
  );

export const Reconciled = Type.Object(
  {
    as_of: maybeText("The last day that a statement with balances covers; null before the first."),
    bank_paise: maybeSum("What the bank says is on the account."),
    books_paise: sum("What the books say is on it."),
    difference_paise: maybeSum("By how much they differ."),
    differences: Type.Array(
      Type.Object({
        what: text("Where the money comes from, in words."),
        amount_paise: sum("How much of the difference it is."),
      }),
      { description: "What the difference comes from; they sum to it." },
    ),
    unexplained_paise: maybeSum("What no line of the bank and no entry explains."),
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
  utr: maybeText("The bank's reference (UTR)."),
  status: openEnum(bankLineStates, "Where it went; new while a second person is waited for."),
  reason: describeReason("Why it went there."),
  firm_id: maybeText("The firm that got it."),
  deal_id: maybeText("The settlement or cross that it names."),
  proved_by: maybeText("What shows that it came from the firm: its account, or its name."),
  repeats_line_id: maybeText("The line of an earlier file that it is, or may be."),
};

const statementFacts = {
  statement_id: text("The statement's id."),
  status: openEnum(["received", "applied"], "received until it is carried out."),
  first_day: day("The day of its first line."),
  last_day: day("The day of its last line."),
  line_count: count("Lines in the file."),
  opening_paise: maybeSum("The balance before the first line; null where the file has none."),
  closing_paise: maybeSum("The balance after the last line."),
  received_by: text("The name of whoever imported it."),
  received_at: timestamp("When."),
  applied_by: maybeText("Who had it carried out: the second person, where it took two."),
  applied_at: maybeTime("When."),
};

const BankStatement = Type.Object(statementFacts, {
  title: "BankStatement",
  description: "A file of the bank that was imported.",
});

export const BankStatements = pageList("statements", BankStatement, "The newest first.");

export const ShownBankStatement = Type.Object(
  {
    ...statementFacts,
    lines: Type.Array(
      Type.Object(
        {
          ...lineResult,
          remitter_name: text("Who sent it, as the bank says."),
          remitter_account_masked: text("The end of the account that it came from."),
          narration: text("What the bank wrote about the line."),
          balance_paise: maybeSum("The bank's balance after it."),
          decided_by: maybeText("Who assigned it, or sent it back."),
        },
        { title: "BankLine", description: "A line of the bank, where it went, and why." },
      ),
      { description: "In the order of the file." },
    ),
  },
  { title: "ShownBankStatement", description: "A file of the bank with its lines." },
);

export const ImportedStatement = Type.Object(
  {
    statement_id: text("The statement's id."),
    outcome: outcome(
      ["applied", "known", "proposed"],
      "known when it was imported before; proposed waits for a second person.",
    ),
    approval_id: maybeText("The proposal, where it takes a second person."),
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

export const PreviewedStatement = Type.Object(
  {
    known: flag("Whether this file was imported before: importing it again does nothing."),
    lines: count("Lines in the file."),
    matched: count("Lines that would be explained."),
    queued: count("Lines that would wait for a person."),
    repeated: count("Lines that an earlier file had, which count once."),
    incoming_paise: count("What it would bring to firms, in paise."),
    people: count("How many people the import takes."),
    opening_paise: maybeSum("The balance before the first line; null where the file has none."),
    closing_paise: maybeSum("The balance after the last line."),
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
  utr: maybeText("The bank's reference (UTR)."),
  status: openEnum(bankLineStates, "The state it is in."),
  reason: maybeText("Why it could not be explained; the reasons are those of an import."),
  repeats_line_id: maybeText("The line of an earlier file that it may be."),
  remitter_name: text("Who sent it, as the bank says."),
  remitter_account_masked: text("The last digits of the account it came from."),
  narration: text("What the bank wrote about it."),
};

export const BankLine = Type.Object(
  {
    ...toldLine,
    statement_id: text("The statement that brought it."),
    firm_id: maybeText("The firm that it was assigned to or matched with."),
    deal_id: maybeText("The settlement or cross that it was for."),
    decided_by: maybeText("The name of whoever decided about it last."),
    decided_at: maybeTime("When."),
  },
  {
    title: "ToldBankLine",
    description: "A line of the bank, as it is told to whoever decides about it.",
  },
);

export const BankQueue = pageList(
  "lines",
  Type.Object(toldLine, {
    title: "QueuedLine",
    description: "A line of the bank that nobody could explain.",
  }),
  "The oldest first.",
);

export const AssignedLine = doneOrProposed("AssignedLine", ["assigned"]);
export const UndoneAssignment = doneOrProposed("UndoneAssignment", ["queued"]);
export const RepeatedLine = doneOrProposed("RepeatedLine", ["repeated"]);
export const PayingAccount = Type.Object(
  {
    firm_id: text("The firm's id."),
    account_no_masked: text("The last digits of the number."),
    ifsc: text("The branch's IFSC."),
    name: text("Who holds it, as the bank's letter says."),
    entered_by: text("The name of whoever entered it."),
    entered_at: timestamp("When."),
    confirmed_by: maybeText("The second person; null while one is waited for."),
    confirmed_at: maybeTime("When it began to count."),
  },
  { title: "PayingAccount", description: "A second account that a firm pays from." },
);

export const AddedPayingAccount = doneOrProposed("AddedPayingAccount", ["added"]);
export const RemovedPayingAccount = Type.Object(
  { outcome: outcome(["removed"], "It proves nothing any more.") },
  { title: "RemovedPayingAccount", description: "What became of the second account." },
);
export const ReturnedLine = doneOrProposed("ReturnedLine", ["returning"]);
