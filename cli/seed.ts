import { seedCredits } from "../src/credits/seed-credits.ts";
import { command, parseChoice, printOne, wholeNumber, withContext } from "./command.ts";

const barWidth = 40;
const lineEveryMs = 2_000;

const seed = command({
  name: "seed",
  summary: "fill a sandbox desk with synthetic firms and credits",
  options: {
    credits: { required: true, help: "how many credits" },
    seed: { default: "1", help: "the same seed makes the same data" },
    env: { default: "sandbox", help: "only sandbox: live data is never made up" },
    firm: { default: "Demo Desk", help: "name of the desk; made when there is none of that name" },
  },
  example: "npx scripdesk seed --credits 50000 --seed 7 --env sandbox",
  async run(options) {
    parseChoice("env", options.env, ["sandbox"]);
    const credits = wholeNumber("credits", options.credits);
    const { made, seconds } = await withContext(async ({ ctx }) => {
      const startedAt = performance.now();
      const command = { deskName: options.firm, credits, seed: options.seed };
      const seeded = await seedCredits(ctx, { ...command, onProgress: progress(credits) });
      return { made: seeded, seconds: (performance.now() - startedAt) / 1_000 };
    });
    const perSecond = Math.round(made.credits / seconds);
    printOne({ ...made, seconds: Number(seconds.toFixed(1)), per_second: perSecond }, options);
  },
});

/** A bar that redraws itself for people, a line now and then for logs. */
function progress(total: number): (made: number) => void {
  const { stderr } = process;
  const startedAt = performance.now();
  let lastLineAt = startedAt;
  return (made) => {
    const now = performance.now();
    const rate = Math.round(made / Math.max(0.001, (now - startedAt) / 1_000));
    const text = `${made.toLocaleString("en-IN")} of ${total.toLocaleString("en-IN")} credits, ${rate.toLocaleString("en-IN")}/s`;
    if (stderr.isTTY) {
      const filled = Math.round((made / total) * barWidth);
      const bar = "█".repeat(filled).padEnd(barWidth, "░");
      stderr.write(`\r${bar} ${text}${made >= total ? "\n" : ""}`);
      return;
    }
    if (made < total && now - lastLineAt < lineEveryMs) return;
    lastLineAt = now;
    stderr.write(`${text}\n`);
  };
}

export const commands = [seed];
