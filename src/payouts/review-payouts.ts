// What was done before today's rules held, and they would have refused. `src/money-review.ts` lists the
// checks of every room.

import { findPayees } from "../firms/bank-accounts.ts";
import type { FirmHoldReason } from "../firms/hold-rules.ts";
import type { Environment } from "../kernel/caller.ts";
import type { Context } from "../platform/context.ts";
import { listMixedFiles } from "./file-store.ts";
import { listToUnconfirmed, listWaiting } from "./store.ts";

/** Something that today's rules would have refused. */
type ReviewFinding = {
  /** The id of the payout, file or deposit. */
  readonly id: string;
  readonly environment: Environment;
  /** Null for what is about several firms. */
  readonly firm_id: string | null;
  readonly amount_paise: number;
  readonly found: string;
};

export type MoneyCheck = {
  readonly name: string;
  /** What to do about what it finds. */
  readonly advice: string;
  /** At most so many, oldest first. */
  readonly list: (
    ctx: Pick<Context, "db" | "sealKey">,
    now: Date,
    limit: number,
  ) => Promise<readonly ReviewFinding[]>;
};

/** Holds that only a person or the bank ends. */
const waitsForPerson: readonly FirmHoldReason[] = [
  "bank_not_verified",
  "firm_rejected",
  "firm_flagged",
  "firm_offboarded",
];

const leftUnconfirmed: MoneyCheck = {
  name: "payout_to_unconfirmed_account",
  advice: "ask the firm and the bank whose account it is",
  async list({ db }, _now, limit) {
    const rows = await listToUnconfirmed(db, limit);
    return rows.map(({ payout_id: id, environment, firm_id, paise, state, ifsc, last4 }) => ({
      id,
      environment,
      firm_id,
      amount_paise: paise,
      found: `${state}; the bank has not confirmed ${ifsc} …${last4}`,
    }));
  },
};

const waitingUnconfirmed: MoneyCheck = {
  name: "payout_waits",
  advice: "have the account confirmed, or decide with the desk what becomes of the money",
  async list({ db }, now, limit) {
    const environment = "live";
    const rows = [
      ...(await listWaiting(db, { environment, state: "scheduled" }, limit)),
      ...(await listWaiting(db, { environment, state: "held" }, limit)),
    ];
    const payees = await db.run(findPayees([...new Set(rows.map(({ firm_id }) => firm_id))], now));
    return rows.flatMap(({ payout_id: id, firm_id, paise, state }) => {
      const holds = payees.get(firm_id)?.holds.map(({ reason }) => reason) ?? [];
      const reasons = holds.filter((reason) => waitsForPerson.includes(reason));
      if (reasons.length === 0) return [];
      return [
        { id, environment, firm_id, amount_paise: paise, found: `${state}; ${reasons.join(", ")}` },
      ];
    });
  },
};

const mixedFile: MoneyCheck = {
  name: "file_answered_in_part",
  advice: "see with the bank that it got the file once; void it when the rest was not paid",
  async list({ db }, _now, limit) {
    const rows = await listMixedFiles(db, limit);
    return rows.map(({ file_id: id, environment, rail, paise, over, live }) => ({
      id,
      environment,
      firm_id: null,
      amount_paise: paise,
      found: `${rail}; ${over} lines were answered or voided, ${live} were not`,
    }));
  },
};

export const payoutReview: readonly MoneyCheck[] = [leftUnconfirmed, waitingUnconfirmed, mixedFile];
