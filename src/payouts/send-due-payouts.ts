// What has not been sent is looked at again and again: holds end and others begin. The sandbox's
// money is sent by this worker; live money is sent by a person, and only the holds are kept current.

import { recordChanges } from "../events/record-changes.ts";
import { lockPayees } from "../firms/payees.ts";
import { isPortUp } from "../inquiries/port-status.ts";
import type { Actor } from "../kernel/actor.ts";
import { ledgerIsSound, ledgerWasChecked } from "../ledger/check-ledger.ts";
import type { Context } from "../platform/context.ts";
import { noOffenders, type Offenders, workInParts } from "../platform/offenders.ts";
import type { Tx } from "../platform/postgres.ts";
import { askBank } from "./ask-bank.ts";
import { lookAt } from "./decide-payouts.ts";
import { claimUnsent, hasUnsent, type PayoutRow, setPayouts } from "./store.ts";

const setSizeMax = 200;
const cashier: Actor = { kind: "worker", id: "payouts", requestId: null };

/** One set of unsent payouts; whether there may be more. */
export async function sendDuePayouts(
  ctx: Pick<Context, "db" | "now">,
  offenders: Offenders = noOffenders(),
): Promise<"more" | "idle"> {
  const now = ctx.now();
  if (!(await hasUnsent(ctx.db, now))) return "idle";
  // The first check of the books is on its way.
  if (!(await ledgerWasChecked(ctx.db))) return "idle";
  const ledgerSound = await ledgerIsSound(ctx.db, now);
  const bankUp = await isPortUp(ctx.db, "sandbox", "bank");
  const look = async (tx: Tx, claimed: readonly PayoutRow[]): Promise<void> => {
    const payees = await lockPayees(tx, [...new Set(claimed.map((row) => row.firm_id))], now);
    const payeeOf = (firmId: string) => {
      const payee = payees.get(firmId);
      if (!payee) throw new Error("who is paid is a firm");
      return payee;
    };
    const looked = lookAt(claimed, payeeOf, { ledgerSound, bankUp, now });
    const rows = looked.map(({ after }) => after);
    await setPayouts(tx, rows);
    await askBank(
      tx,
      rows.filter((row) => row.state === "sent"),
      now,
    );
    await recordChanges(
      tx,
      cashier,
      looked.flatMap(({ changes }) => changes),
      now,
    );
  };
  const done = await workInParts(offenders, (choice, note) =>
    ctx.db.transaction(async (tx) => {
      const claimed = await claimUnsent(tx, now, { limit: setSizeMax, ...choice });
      note(claimed.map((row) => row.payout_id));
      if (claimed.length > 0) await look(tx, claimed);
      return claimed.length;
    }),
  );
  return done === setSizeMax ? "more" : "idle";
}
