// `payouts …`, one by one and as files for the bank.

import { readFile as readLocal, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { readConfig } from "../src/config.ts";
import { environments } from "../src/kernel/caller.ts";
import { rupeesText } from "../src/kernel/money.ts";
import { confirmPayouts, payoutOperations } from "../src/ops/payouts.ts";
import { type FileBytes, readFile } from "../src/payouts/read-files.ts";
import { makeFiles, previewFiles } from "../src/payouts/make-files.ts";
import { type FileFormat, genericFormat, parseFileFormat } from "../src/payouts/file-rules.ts";
import { command, parseChoice, print, printOne, UsageError } from "./command.ts";
import { deriveFrom, echo, sumUp, viewAttested } from "./derived.ts";
import { operatorOption, withOperator } from "./operators.ts";
import { assertOutFolder, writeToOut } from "./out-file.ts";

const derive = deriveFrom(payoutOperations);
const reading = { permission: "read", environment: "live" } as const;
const writing = { permission: "payouts.write", environment: "live", named: true } as const;
const outOption = { default: ".", help: "the folder that files are written to" } as const;

/** A format by name, or the JSON file that describes a bank's own. */
export async function jsonFile(name: string, path: string): Promise<unknown> {
  const text = await readLocal(path, "utf8").catch((error: Error) => {
    throw new UsageError(`--${name} cannot be read: ${error.message}`);
  });
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`--${name} ${path} is not JSON`);
  }
}

async function readFormat(given: string): Promise<FileFormat> {
  return given === genericFormat.name
    ? genericFormat
    : parseFileFormat(await jsonFile("format", given));
}

/** Whole or not at all, and for nobody else's eyes. */
async function writeOut(folder: string, { name, text, sha256 }: FileBytes) {
  const path = join(folder, name);
  await writeToOut(async () => {
    await writeFile(`${path}.part`, text, { mode: 0o600 });
    await rename(`${path}.part`, path);
  });
  return { path, sha256 };
}

const make = command({
  name: "payouts file",
  summary: "put live money that is due and free into one file per rail for the bank",
  options: {
    env: { default: "live", help: "live; the sandbox pays by itself" },
    preview: { type: "boolean", help: "show what the files would hold, and write nothing" },
    format: {
      default: genericFormat.name,
      help: "generic, or a JSON file with the bank's columns",
    },
    out: outOption,
    ...operatorOption,
  },
  example: "npx scripdesk payouts file --preview",
  async run(options) {
    const environment = parseChoice("env", options.env, environments);
    if (options.preview) {
      const { files, kept } = await withOperator(options, { ...reading, environment }, ({ ctx }) =>
        previewFiles(ctx, environment),
      );
      const lines = files.flatMap(({ rail, paise, remittances }) => [
        ...remittances.map(({ firmId, paise: amount, ifsc, last4, payouts }) => ({
          rail,
          firm_id: firmId,
          account: `${ifsc} …${last4}`,
          payouts: payouts.length,
          amount_paise: amount,
          rupees: rupeesText(amount),
        })),
        {
          rail,
          firm_id: "all",
          account: "",
          payouts: remittances.reduce((sum, { payouts }) => sum + payouts.length, 0),
          amount_paise: paise,
          rupees: rupeesText(paise),
        },
      ]);
      const stays = kept.map(({ payoutId, paise, reason }) => ({
        rail: "stays",
        firm_id: payoutId,
        account: reason,
        payouts: 1,
        amount_paise: paise,
        rupees: rupeesText(paise),
      }));
      return print([...lines, ...stays], options);
    }
    const format = await readFormat(options.format);
    await assertOutFolder(options.out);
    const { twoOperatorsFromPaise: twoFromPaise } = readConfig(process.env);
    await withOperator(options, { ...writing, environment }, async ({ ctx, actor }) => {
      const made = await makeFiles(ctx, actor, { environment, format, twoFromPaise });
      const lines: Record<string, unknown>[] = [];
      for (const { rail, paise, outcome, file_id, approval_id } of made) {
        const written =
          file_id === null ? {} : await writeOut(options.out, await readFile(ctx, actor, file_id));
        lines.push({
          rail,
          outcome,
          file_id,
          approval_id,
          amount_paise: paise,
          rupees: rupeesText(paise),
          ...written,
        });
      }
      print(lines, options);
    });
    return undefined;
  },
});

const write = command({
  name: "payouts file write",
  summary: "write a file again, with the same bytes; who did is on record",
  operand: "FILE_ID",
  options: { out: outOption, ...operatorOption },
  async run(options, fileId) {
    await assertOutFolder(options.out);
    const written = await withOperator(options, writing, async ({ ctx, actor }) =>
      writeOut(options.out, await readFile(ctx, actor, fileId)),
    );
    printOne({ file_id: fileId, ...written }, options);
  },
});

export const commands = [
  derive("listAllPayouts", "payouts list", {
    columns: "payout_id env firm_id kind amount_paise rail ifsc last4 status reason utr created_at",
  }),
  derive("readAnyPayout", "payouts show"),
  derive("releasePayout", "payouts release", {
    csv: "payout_id",
    columns: "payout_id outcome approval_id",
    act: { named: true },
  }),
  derive("sendPayout", "payouts send", {
    csv: "payout_id utr",
    columns: "payout_id outcome approval_id",
    example: "npx scripdesk payouts send pay_… --utr HDFCR52026111500012345 --operator asha",
  }),
  derive("confirmPayout", "payouts confirm", {
    csv: "payout_id reference",
    set: confirmPayouts,
    view: viewAttested,
  }),
  derive("returnPayout", "payouts return", {
    csv: "payout_id reason",
    sum: sumUp("returned", "proposed"),
  }),
  derive("resendPayout", "payouts resend", {
    csv: "payout_id",
    columns: "payout_id resend_of status",
  }),

  derive("listFiles", "payouts file list", {
    columns:
      "file_id rail status lines=line_count amount_paise format=format.name made_by made_at sha256",
  }),
  derive("readFileFacts", "payouts file show", {
    view: ({ lines, format, sha256, ...file }) => ({
      ...file,
      format: (format as { readonly name: string }).name, // By its schema.
      sha256,
      lines,
    }),
  }),
  write,
  derive("voidFile", "payouts file void", { view: echo("file_id"), act: { named: true } }),
  make,
];
