import { reviewMoney } from "../src/money-review.ts";
import { command, print, wholeNumber, withContext } from "./command.ts";

const review = command({
  name: "money review",
  summary: "list payouts, files and deposits that today's rules would have refused",
  options: { limit: { default: "1000", help: "the most of each check" } },
  async run({ limit, ...options }) {
    const most = wholeNumber("limit", limit);
    print(await withContext(async ({ ctx }) => await reviewMoney(ctx, most)), options);
  },
});

export const moneyCommands = [review];
