import { type Static, Type } from "typebox";

import { schemes, sides } from "../kernel/scheme.ts";
import {
  body,
  closedEnum,
  flag,
  historySchema,
  idFilter,
  maybeText,
  maybeTime,
  nullable,
  nullableObject,
  openEnum,
  text,
  timestamp,
  version,
} from "../platform/http/wire.ts";
import {
  legStates,
  settlementStates,
  steps,
  taskActors,
  taskKinds,
  taskStatuses,
  waitingOn,
} from "./rules.ts";

const settlementId = Type.String({
  description: "The settlement's id.",
  examples: ["stl_01jd2m7q4x8r5v6w9y0abcdefg"],
});
const amount = (description: string) => Type.Integer({ description, examples: [25_000_000] });

const Leg = Type.Object({
  scrip_no: text("The credit's number."),
  order_id: maybeText("The order that it was dealt by; null for a cross."),
  face_paise: amount("The credit's face value in paise."),
  price_bps: Type.Integer({
    description: "Your price in basis points of face.",
    examples: [9_765],
  }),
  all_in_paise: amount("What you pay or get for it with fees and tax, in paise."),
  status: openEnum(legStates, "Where the credit stands."),
  reason: maybeText("Why it was not delivered; null otherwise."),
  default_by: nullable<string>({
    type: "string",
    examples: [...sides],
    description:
      "The side that pays the other because it is proved to be late at the portal; null where none is.",
  }),
  default_paise: amount("How much it pays; 0 where nobody does."),
});

export const Side = Type.Object({
  side: openEnum(sides, "Which side."),
  firm_id: text("The firm of your desk that is on it."),
  order_ids: Type.Array(Type.String(), { description: "The orders that it dealt by." }),
  status: openEnum(settlementStates, "Where this side stands, by its own credits."),
  face_paise: amount("The face of its credits."),
  all_in_paise: amount("What was agreed to change hands."),
  settled_paise: amount("What of it has changed hands, for credits that were delivered."),
  undelivered_paise: amount("What of it will not, for credits that were not."),
  default_owed_paise: amount("What your side owes for having been late; kept back or set off."),
  default_due_paise: amount("What the other side owes yours for that; yours once it is collected."),
  legs: Type.Array(Leg, { description: "One per credit." }),
});

export const Task = Type.Object(
  {
    task_id: Type.String({
      description: "The task's id.",
      examples: ["tsk_01jd2m7q4x8r5v6w9y0abcdefg_pay"],
    }),
    kind: openEnum(
      taskKinds,
      "pay: send the money to the house. initiate: initiate the transfer on the customs portal. " +
        "accept: accept it there.",
    ),
    side: openEnum(sides, "Whose side it is of."),
    firm_id: text("The firm of your desk."),
    scrip_no: maybeText("The credit; null for the payment."),
    by: openEnum(taskActors, "Who does it: the firm, or the house for it by its mandate."),
    status: openEnum(
      taskStatuses,
      "late: its deadline has passed and it still waits. void: the deal ended without it.",
    ),
    due_at: maybeTime("By when it is to be done; null once it is done."),
    done_at: maybeTime("When it was done, as a party said or customs showed; null before."),
    reference: maybeText("The reference that was given with it; null without one."),
    instructions: nullableObject(
      {
        beneficiary: Type.Optional(
          maybeText("For pay: who gets the money; null for the other kinds."),
        ),
        account_no: Type.Optional(
          maybeText("For pay: the account number to pay to; null for the other kinds."),
        ),
        ifsc: Type.Optional(
          maybeText("For pay: the IFSC of that account; null for the other kinds."),
        ),
        bank: Type.Optional(
          maybeText("For pay: the bank of that account; null for the other kinds."),
        ),
        amount_paise: Type.Optional(amount("For pay: the exact amount in paise.")),
        reference: Type.Optional(
          maybeText("For pay: what to give as the reference; null for the other kinds."),
        ),
        scrip_no: Type.Optional(text("initiate and accept: the credit.")),
        face_paise: Type.Optional(amount("initiate and accept: its face.")),
        to_iec: Type.Optional(
          maybeText("For initiate: the IEC of the receiver; null for the other kinds."),
        ),
        to_name: Type.Optional(
          maybeText("For initiate: the name of the receiving firm; null for the other kinds."),
        ),
        from_iec: Type.Optional(
          maybeText("For accept: the IEC of the holder; null for the other kinds."),
        ),
        from_name: Type.Optional(
          maybeText("For accept: the name of the holding firm; null for the other kinds."),
        ),
      },
      {
        description:
          "What to enter where it is done; null unless the task is open and there is something to tell.",
      },
    ),
  },
  { title: "Task", description: "What a firm, or the house for it, does outside." },
);

export const Settlement = Type.Object(
  {
    settlement_id: settlementId,
    cross_id: maybeText("The cross whose credits it delivers; null for a settlement of orders."),
    scheme: openEnum(schemes, "Which scheme."),
    status: openEnum(
      settlementStates,
      "Where your side stands; with several, `settled` if anything of them was delivered.",
    ),
    reason: maybeText("Why it failed or was reversed; null otherwise."),
    failed_step: nullable<string>({
      type: "string",
      examples: [...steps],
      description:
        "What was awaited when it failed: pay, initiate, accept or customs. New ones may appear; null where it did not fail while waiting.",
    }),
    waiting_on: openEnum(waitingOn, "Whose move it is."),
    due_at: maybeTime("By when that must have happened; null where nothing is awaited."),
    late: flag(
      "Whether that is over. A transfer that may be open at customs ends only by what customs says.",
    ),
    sides: Type.Array(Side, {
      description: "What your firms deliver or buy in it, and nothing of anybody else.",
    }),
    tasks: Type.Array(Task, {
      description: "What your side does, or the house for it: the payment, then credit by credit.",
    }),
    history: historySchema(settlementStates),
    version,
    allowed_actions: Type.Array(Type.String(), { description: "What you can do with it now." }),
    created_at: timestamp("When it was dealt."),
    updated_at: timestamp("When it last changed."),
  },
  { title: "Settlement", description: "Delivery of whole credits against payment." },
);
export type Settlement = Static<typeof Settlement>;

export const SettlementParams = Type.Object({ settlement_id: settlementId });

export const settlementFilters = {
  status: Type.Optional(closedEnum(settlementStates, { description: "Only those in this state." })),
  firm_id: idFilter("Only those of this firm."),
  order_id: idFilter("Only those of this order."),
  from: Type.Optional(timestamp("Only those dealt at this time or later.")),
  to: Type.Optional(timestamp("Only those dealt before this time.")),
};

export const NoFields = body({});

const reference = Type.String({
  minLength: 1,
  maxLength: 200,
  description: "What the portal or the bank gave you for it: a number that can be looked up.",
  examples: ["ICEGATE-7781"],
});

export const TaskParams = Type.Object({
  settlement_id: settlementId,
  task_id: Type.String({ maxLength: 100, description: "The task's id." }),
});

export const DoneBody = body({ reference });
export type DoneBody = Static<typeof DoneBody>;

export const MissingBody = body({
  reference: Type.Optional(reference),
  note: Type.Optional(
    Type.String({ minLength: 1, maxLength: 500, description: "What whoever looks should know." }),
  ),
});
export type MissingBody = Static<typeof MissingBody>;

export const taskFilters = {
  status: Type.Optional(
    closedEnum(taskStatuses, {
      description:
        "Only in this status; without it those that are open, waiting or late. What is done or void is of deals of the last 92 days.",
    }),
  ),
  firm_id: idFilter("Only those of this firm."),
  kind: Type.Optional(closedEnum(taskKinds, { description: "Only of this kind." })),
  due_before: Type.Optional(timestamp("Only those that are due before this time.")),
};

export const TaskOfList = Type.Object(
  { settlement_id: settlementId, ...Task.properties },
  { title: "TaskOfList", description: "A task and the settlement that it carries out." },
);
export type TaskOfList = Static<typeof TaskOfList>;
