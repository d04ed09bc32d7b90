// Money that lines of the bank brought before today's rules held, and that these would have queued.

import type { Environment } from "../kernel/caller.ts";
import type { MoneyCheck } from "../payouts/review-payouts.ts";
import { findSenders } from "./paying-account.ts";
import { openDetails } from "./receive-statement.ts";
import { findProof } from "./rules.ts";
import { listCountedTwice, listUnproved } from "./totals-store.ts";

/** Lines that are looked at; the oldest first. */
const linesMax = 20_000;

/** The remitter is compared with what is confirmed now: a firm may have changed its account since. */
const unproved: MoneyCheck = {
  name: "deposit_unproved",
  advice: "ask the remitter's bank whose money it was",
  async list({ db, sealKey }, _now, limit) {
    const rows = await listUnproved(db, linesMax);
    const firmIds = [...new Set(rows.flatMap(({ firm_id }) => firm_id ?? []))];
    const senders = await findSenders(db, firmIds, sealKey);
    const refused = rows.filter((row) => {
      const { remitterName, remitterAccount } = openDetails(row, sealKey);
      const sender = senders.get(row.firm_id ?? "");
      // Before forms said so, a line without an account was one of a form without accounts.
      const from = {
        remitterName,
        remitterAccount: remitterAccount === "" ? null : remitterAccount,
      };
      return sender === undefined || findProof(from, sender) === undefined;
    });
    return refused.slice(0, limit).map((row) => ({
      ...toFinding(row),
      found: "its remitter is no confirmed account or holder of the firm",
    }));
  },
};

const countedTwice: MoneyCheck = {
  name: "deposit_counted_twice",
  advice: "compare with the bank's page of that day; reverse what it has once",
  async list({ db }, _now, limit) {
    const rows = await listCountedTwice(db, limit);
    return rows.map((row) => ({
      ...toFinding(row),
      found: `the bank's balance after it is that of ${row.other_id}`,
    }));
  },
};

type FoundLine = {
  readonly line_id: string;
  readonly environment: Environment;
  readonly firm_id: string | null;
  readonly paise: number;
};

function toFinding({ line_id: id, environment, firm_id, paise: amount_paise }: FoundLine) {
  return { id, environment, firm_id, amount_paise };
}

export const depositReview: readonly MoneyCheck[] = [unproved, countedTwice];
