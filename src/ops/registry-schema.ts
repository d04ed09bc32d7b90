import { Type } from "typebox";

import { dayStatuses } from "../outside/calendar-rules.ts";
import { creditStates } from "../credits/rules.ts";
import { CreditUse, ImportResults } from "../credits/schema.ts";
import { questionKinds, ports } from "../outside/question-rules.ts";
import { offices } from "../kernel/working-days.ts";
import { nullable, openEnum, timestamp } from "../platform/http/wire.ts";

import {
  anyObject,
  count,
  day,
  environment,
  flag,
  pageList,
  wrapList,
  wrapPage,
  maybeCount,
  maybeText,
  Proposed,
  scheme,
  text,
  version,
} from "./schema.ts";

export { ImportResults };

const port = openEnum(ports, "Who answers outside.");
const office = openEnum(offices, "Whose day it is.");

export const Questions = pageList(
  "questions",
  Type.Object(
    {
      question_id: text("The question's id."),
      environment,
      desk_id: text("The desk whose business it is."),
      port,
      kind: openEnum(questionKinds, "What is asked."),
      subject_id: text("The firm, credit, deal or payout that it is about."),
      facts: anyObject("What the answer must fit; its members depend on the kind."),
      due_at: timestamp("When it is asked or asked again."),
      created_at: timestamp("Since when it is open."),
    },
    { title: "Question", description: "An open question to customs or to a bank." },
  ),
  "The oldest first.",
);

export const Attested = Type.Union(
  [
    Type.Object({
      outcome: Type.Literal("done", { description: "The answers count." }),
      answered: count("How many questions were answered."),
    }),
    Proposed,
  ],
  { title: "Attested", description: "An operator's word about the outside world." },
);

export const PortState = Type.Object({
  environment,
  port,
  status: openEnum(["up", "outage"], "During an outage questions wait."),
});

export const OpsCredit = Type.Object(
  {
    credit_id: text("The holding's id."),
    environment,
    desk_id: text("The desk of the firm."),
    firm_id: text("The id of the firm that holds the credit."),
    scrip_no: text("The credit's number."),
    scheme,
    issued_paise: count("What it was issued with."),
    face_paise: count("The balance that can be transferred."),
    port_code: maybeText("The code of its customs port; null while it is unknown."),
    issued_on: day("The day it was issued."),
    expires_on: day("The last day it can be used."),
    status: openEnum(creditStates, "The state it is in."),
    state_before_suspension: nullable<(typeof creditStates)[number]>({
      type: "string",
      description:
        "The state that it returns to when its suspension is lifted; null while it is not suspended.",
    }),
    reserved_for: maybeText("The order, settlement or cross that has it; null while none does."),
    reason: maybeText("Why it is in this state; null where that is obvious."),
    as_of: timestamp("When this was last confirmed."),
    balance_shown_on: nullable<string>({
      type: "string",
      format: "date",
      description:
        "The day on which customs showed this balance; null where only its firm told it.",
    }),
    expiry_told: maybeCount(
      "The last warning of its expiry that was given, in days before it; null before the first.",
    ),
    expiry_due_on: day("When it is next looked at for its expiry."),
    version,
    created_at: timestamp("When it was declared."),
    updated_at: timestamp("When it last changed."),
  },
  { title: "HeldCredit", description: "A credit and who holds it." },
);

export const OpsCreditWithUses = Type.Object(
  {
    ...OpsCredit.properties,
    uses: Type.Array(CreditUse, {
      description: "The parts that its firm has told, in that order.",
    }),
    used_elsewhere_paise: count(
      "What was used and is not told in uses. issued_paise is face_paise, uses and this.",
    ),
  },
  { title: "HeldCreditWithUses", description: "A credit, who holds it, and what it paid." },
);

export const Credits = wrapPage("credits", OpsCredit, "The newest first.");

export const News = Type.Object(
  {
    scrip_no: text("The credit's number."),
    ok: flag("Always true; what cannot be is refused."),
    from: maybeText("The state it was in; null for a credit that is new."),
    to: maybeText("The state it is in; null where it has none."),
    reserved_for: maybeText("The deal that had it and is checked now; null where none had it."),
    problem: maybeText("Always null: there is no problem."),
  },
  { title: "CreditNews", description: "What became of a credit that customs spoke about." },
);

export const Calendar = wrapList(
  "days",
  Type.Object(
    {
      office,
      day: day("The day."),
      name: text("What the day is called."),
      works: flag("Whether the office works on it."),
      status: openEnum(dayStatuses, "check for starting rows that nobody has confirmed."),
    },
    { title: "CalendarDay", description: "A day that differs from the week." },
  ),
  "By office and day.",
);

export const ImportedDays = Type.Object({
  rows: count("Days in the list."),
  changed: count("Those that were not there, or otherwise."),
  removed: count("Starting rows of the same office and year that the list does not have."),
});

export const AddedDay = Type.Object({
  office,
  day: day("The day."),
  name: text("What the day is called."),
  works: Type.Optional(flag("Whether the office works on it.")),
});

export const RemovedDay = Type.Object({
  office,
  day: day("The day."),
  removed: flag("True: the days are gone."),
});
