import { Type } from "typebox";

import { Firm } from "../firms/schema.ts";
import { Key } from "../access/schema.ts";
import { neededParticulars } from "../house/rules.ts";
import { liveStepNames } from "../overview/rules.ts";
import { marketStates } from "../rates/rules.ts";
import { Request, requestFilters } from "../requests/schema.ts";
import { AuditEntry, auditFilters } from "../journal/schema.ts";
import { Deposit } from "../payouts/schema.ts";
import { Order } from "../trading/schema.ts";
import { droppedOutcomes } from "../unattended/drop-rules.ts";
import { openEnum, timestamp } from "../platform/http/wire.ts";
import {
  count,
  day,
  environment,
  extend,
  flag,
  maybeCount,
  maybeText,
  maybeTime,
  pageList,
  scheme,
  sum,
  text,
  wrapList,
} from "./schema.ts";

export const Findings = wrapList(
  "found",
  Type.Object(
    {
      kind: text("What it is: firm, order, settlement, payout, credit and so on."),
      id: text("Its id; the bank's reference for a deposit."),
      environment: maybeText("live or sandbox; null for what belongs to neither."),
      status: maybeText("The state it is in; null where it has none."),
      note: maybeText("What it is known by: an IEC, a number, a reference; null without one."),
      desk_id: maybeText("The id of the desk it belongs to; null for what belongs to no desk."),
      desk_name: maybeText("The desk's name; null for what belongs to no desk."),
      firm_id: maybeText(
        "Its firm: the buyer of a settlement, the seller of a cross; null for what belongs to no firm.",
      ),
      firm_name: maybeText("The firm's name; null for what belongs to no firm."),
    },
    { title: "Found", description: "A thing that the text may mean." },
  ),
  "The surest first; up to twenty of each kind of match.",
);

export const EvidenceList = wrapList(
  "evidence",
  Type.Object(
    {
      id: text("The question, the proposal or the bank's line."),
      kind: text("What it answers, proposes or is: credit_holding, settlement.reverse, bank_line."),
      status: text("The state it is in."),
      at: timestamp("As of when it holds; when it was decided."),
      reference: maybeText(
        "The ticket, letter, UTR or reason that was given; null where none was.",
      ),
      said_by: text("The name of whoever said it."),
      approved_by: maybeText("The name of the second person; null where it took one."),
    },
    { title: "Evidence", description: "What a person said about a thing, and how they knew." },
  ),
  "The newest first, up to 100.",
);

export { auditFilters };

export const AuditRecords = pageList("records", AuditEntry, "The newest first.");

const FirmDeposit = Type.Object(Deposit.properties, {
  title: "FirmDeposit",
  description: "Money that the firm paid in.",
});

export const FirmAccount = Type.Object(
  {
    firm_id: text("The firm's id."),
    desk_id: text("The id of the desk it belongs to."),
    environment,
    available_paise: sum("What it can spend or withdraw."),
    posted_paise: sum("Its balance in the books."),
    escrow_paise: sum("Of it, held for deals until they are over."),
    pending_out_paise: sum("Of it, on its way out."),
    pending_in_paise: sum("What is on its way in, in paise."),
    commission_paise: sum("Commission that it earned as a desk."),
    dues_paise: sum("What it owes the house."),
    deposits: Type.Array(FirmDeposit, { description: "Its newest deposits, up to 50." }),
  },
  { title: "FirmAccount", description: "A firm's money with the house." },
);

export const OpsOrder = extend(
  Order,
  {
    environment,
    desk_id: text("The id of the desk's own firm."),
    key_id: text("The key that placed it."),
  },
  { title: "OpsOrder", description: "An order of any desk." },
);

const deskFields = {
  desk_id: text("The desk: the id of its own firm."),
  environment,
  legal_name: text("The firm's legal name."),
  iec: maybeText("The importer-exporter code (IEC) of its own firm; null without one."),
  connection_state: text("The state of its own firm."),
  plans: Type.Array(Type.String(), { description: "The plans of its root keys." }),
  client_firms: count(
    "How many firms it trades for besides its own, counted up to 20 in a list and to 1,000 alone.",
  ),
  created_at: timestamp("When it was opened."),
};

export const Desks = Type.Object({
  desks: Type.Array(Type.Object(deskFields, { title: "Desk", description: "A desk, in short." }), {
    description: "The newest first.",
  }),
  next_cursor: maybeText("Ask for the next page with this; null on the last page."),
});

export const WholeDesk = Type.Object(
  {
    ...deskFields,
    commission_bps: count("What it earns on its clients' deals, in basis points of face."),
    firm: Firm,
    keys: Type.Array(Key, { description: "Its keys, newest first, without their secrets." }),
  },
  { title: "WholeDesk", description: "A desk with its own firm and its keys." },
);

export const LiveReadiness = Type.Object(
  {
    ready: flag("Whether nothing that is needed is missing."),
    steps: Type.Array(
      Type.Object(
        {
          step: openEnum(liveStepNames, "What is looked at."),
          done: flag("Whether nothing of it is missing."),
          needed: flag("Whether it stops the first live deal."),
          found: text("What there is, or what is missing."),
          page: maybeText(
            "The page of the console that mends it; null where only the machine can.",
          ),
          command: text("The command of the program that mends it."),
        },
        { title: "LiveStep", description: "One thing to have before the first live day." },
      ),
      { description: "In the order in which they are best done." },
    ),
  },
  { title: "LiveReadiness", description: "What is missing before the first live day." },
);

const waiting = Type.Object(
  {
    settlements_for_buyer: count("Settlements that wait for the buyer's money."),
    settlements_for_seller: count("Funded settlements that are not with customs yet."),
    settlements_for_customs: count("Settlements that wait for customs."),
    settlements_late: count(
      "Settlements past their deadline that wait for customs or for an outage to end.",
    ),
    deals_unread: count(
      "Unpaid deals past their deadline: import the bank's statement, and look at the queue.",
    ),
    settlements_due_today: count("Settlements whose deadline is today."),
    crosses_late: count("Crosses past their deadline."),
    payouts_scheduled: count("Payouts that may leave."),
    payouts_held: count("Payouts that are held."),
    payouts_instructed: count("Payouts in a file that the bank has not answered."),
    payouts_sent: count("Payouts that were sent and have not arrived."),
    payouts_returned: count("Payouts that came back and were not sent again."),
    approvals: count("Proposals that wait for a second person."),
    bank_lines: count("Lines of the bank that nobody could explain."),
    questions: count("Open questions to customs and banks."),
    enquiries: count("Enquiries of the public that nobody has closed."),
    dead_letters: count("Webhook deliveries that were given up."),
  },
  { title: "Waiting", description: "What waits for somebody; each is counted up to 100." },
);

export const Today = Type.Object(
  {
    environment,
    day: day("Today."),
    as_of: timestamp("When this was counted."),
    waiting,
    house_missing: Type.Array(openEnum(neededParticulars, "What is missing."), {
      description: "What the house lacks of being complete.",
    }),
    schemes: Type.Array(
      Type.Object(
        {
          scheme,
          market: Type.Union([openEnum(marketStates, "Whether there is a price."), Type.Null()], {
            description: "Null before its first rate card.",
          }),
          mid_bps: maybeCount(
            "The card's mid price in basis points of face; null before there is a card.",
          ),
          deals: count("Deals of today."),
          dealt_face_paise: sum("Their face, as the market shows it."),
          house_taken_paise: count("The face that the house has taken on today."),
          house_limit_paise: maybeCount(
            "The most face that the house takes on in a day; null before there is a card.",
          ),
        },
        { title: "SchemeDay", description: "A scheme's day." },
      ),
      { description: "One for each scheme." },
    ),
    house_cash_paise: sum("What is on the house's own account."),
    house_fees_paise: sum("Fees that the house has earned and not taken out."),
    unmatched_cash_paise: sum("Money at the bank that is nobody's yet."),
    ledger_sound: flag("Whether the last check of the books found nothing and is recent."),
  },
  { title: "Today", description: "What waits for somebody, and how the day stands." },
);

export const requestQuery = requestFilters;

export const OpsRequest = extend(
  Request,
  {
    environment,
    desk_id: text("The id of the desk's own firm."),
    firm_id: text("The firm that its key is bound to."),
  },
  { title: "OpsRequest", description: "A call that a desk was answered." },
);

export const Schedules = wrapList(
  "schedules",
  Type.Object(
    {
      name: text("The name of what runs by itself."),
      times: text("The times of the day in IST, or how often."),
      next_at: maybeTime("When it runs next; null where it is not set to run."),
      last_at: maybeTime("When it last ran; null before the first time."),
      outcome: Type.Unsafe<string | null>({
        type: ["string", "null"],
        description: "done, nothing or failed; null before the first time.",
      }),
      said: maybeText("What came of it, in words; null before the first time."),
    },
    { title: "Schedule", description: "Something that the service does by itself." },
  ),
  "By their names.",
);

export const DroppedFiles = pageList(
  "files",
  Type.Object(
    {
      file_id: text("The id under which it was noted."),
      folder: text("The folder that it was put into: statements or credits."),
      name: text("The file's name."),
      sha256: maybeText("The digest of its bytes; null where it was not read."),
      outcome: openEnum(droppedOutcomes, "Failed is what a person has to look at."),
      said: text("What came of it, in words."),
      machine: text("The machine that imported it."),
      at: timestamp("When it was imported."),
    },
    { title: "DroppedFile", description: "A file that was put into the drop folder." },
  ),
  "The newest first.",
);
