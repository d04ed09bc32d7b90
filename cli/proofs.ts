// That the books and the audit trail hold: `ledger …`, `audit …`, and what today's rules would have refused.

import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { once } from "node:events";

import { exportDesk } from "../src/journal/export-audit.ts";
import { listAuditKeys } from "../src/journal/read-audit.ts";
import { verifyCheckpoints } from "../src/journal/verify-checkpoints.ts";
import { storeExportCheckpoint } from "../src/journal/checkpoints.ts";
import { verifyChain } from "../src/journal/verify-chain.ts";
import { verifyExport } from "../src/journal/verify-export.ts";
import { environments } from "../src/kernel/caller.ts";
import { istTimestamp } from "../src/kernel/time.ts";
import { checkLedger, recordVerdict } from "../src/ledger/check-ledger.ts";
import { reviewMoney } from "../src/money-review.ts";
import {
  command,
  naturalNumber,
  parseChoice,
  print,
  printOne,
  UsageError,
  wholeNumber,
  withContext,
} from "./command.ts";
import { operatorOption, withOperator } from "./operators.ts";

const verify = command({
  name: "audit verify",
  summary: "prove that the audit trail is whole, or name the first place where it is not",
  operand: "[FILE]",
  operandOptional: true,
  options: {
    key: { help: "the public key that must have signed FILE; see `audit key`" },
    checkpoint: { help: "checkpoints that went out: the database must still hold what they sign" },
  },
  example: "npx scripdesk audit verify export.ndjson --key 3b6a27bc…",
  async run(options, file) {
    if (file === "" && options.key !== undefined) throw new UsageError("--key goes with a FILE");
    if (file !== "" && options.checkpoint !== undefined) {
      throw new UsageError("--checkpoint is for the database, not for an export");
    }
    const verdict =
      file === ""
        ? await verifyDatabase(options.checkpoint)
        : await verifyExport(await openFile(file), options.key);
    printOne(verdict, options);
    return verdict.whole ? 0 : 1;
  },
});

async function verifyDatabase(checkpointFile: string | undefined) {
  if (checkpointFile === undefined) {
    return await withContext(async ({ ctx }) => await verifyChain(ctx));
  }
  const text = await readFile(checkpointFile, "utf8").catch(() => {
    throw new UsageError(`${checkpointFile} is no file that can be read`);
  });
  return await withContext(async ({ ctx }) => await verifyCheckpoints(ctx, text));
}

async function openFile(file: string): Promise<AsyncIterable<Buffer>> {
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) throw new UsageError(`${file} is no file that can be read`);
  return createReadStream(file);
}

const exported = command({
  name: "audit export",
  summary: "write a desk's audit trail to the standard output, as the desk would get it",
  options: {
    env: { required: true, help: "live or sandbox" },
    desk: { required: true, help: "firm id of the desk" },
    "after-seq": { default: "0", help: "only what follows this place" },
  },
  example: "npx scripdesk audit export --env live --desk frm_… > export.ndjson",
  async run(options) {
    const desk = {
      environment: parseChoice("env", options.env, environments),
      desk_id: options.desk,
    };
    const after = naturalNumber("after-seq", options["after-seq"]);
    const { environment } = desk;
    await withOperator(options, { permission: "read", environment }, async ({ ctx }) => {
      const onCheckpoint = async (line: string) => await storeExportCheckpoint(ctx, line);
      const pages = await exportDesk({ ...ctx, onCheckpoint }, desk, after);
      for await (const page of pages) {
        if (!process.stdout.write(page)) await once(process.stdout, "drain");
      }
    });
  },
});

const key = command({
  name: "audit key",
  summary: "show the public key that exports are signed with",
  options: {},
  async run(options) {
    print((await withContext(async ({ ctx }) => await listAuditKeys(ctx))).keys, options);
  },
});

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

export const commands = [check, verify, exported, key, review];
