import { reviewMoney } from "../src/money-review.ts";
import { command, print, wholeNumber } from "./command.ts";
import { operatorOption, withOperator } from "./operators.ts";

const review = command({
  name: "money review",
  summary: "list payouts, files and deposits that today's rules would have refused",
  options: { limit: { default: "1000", help: "the most of each check" }, ...operatorOption },
  async run({ limit, ...options }) {
    const most = wholeNumber("limit", limit);
    const act = { permission: "read", environment: "live" } as const;
    print(
      await withOperator(options, act, async ({ ctx }) => await reviewMoney(ctx, most)),
      options,
    );
  },
});

export const moneyCommands = [review];
