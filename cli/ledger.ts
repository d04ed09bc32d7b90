import { istTimestamp } from "../src/kernel/time.ts";
import { checkLedger, recordVerdict } from "../src/ledger/check-ledger.ts";
import { command, printOne, withContext } from "./command.ts";

const check = command({
  name: "ledger check",
  summary: "prove that the books hold, or name the first place where they do not",
  options: {},
  async run(options) {
    const verdict = await withContext(async ({ ctx }) => {
      const found = await checkLedger(ctx);
      // The service goes by it at once: a break stops payouts, a mended ledger lets them go on.
      await recordVerdict(ctx.db, found);
      return found;
    });
    printOne(
      {
        sound: verdict.sound,
        entries: verdict.entries,
        took_ms: verdict.tookMs,
        checked_at: istTimestamp(verdict.checkedAt),
        first_break: verdict.firstBreak,
      },
      options,
    );
    return verdict.sound ? 0 : 1;
  },
});

export const ledgerCommands = [check];
