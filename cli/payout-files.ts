import { readFile as readLocal, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { readConfig } from "../src/config.ts";
import { environments } from "../src/kernel/caller.ts";
import { rupeesText } from "../src/kernel/money.ts";
import { istTimestamp } from "../src/kernel/time.ts";
import { type FileBytes, listFiles, readFile, showFile } from "../src/payouts/read-files.ts";
import { makeFiles, previewFiles } from "../src/payouts/make-files.ts";
import {
  type FileFormat,
  fileStates,
  genericFormat,
  parseFileFormat,
} from "../src/payouts/file-rules.ts";
import { voidFile } from "../src/payouts/answer-files.ts";
import { parseQuerySpan } from "../src/kernel/query-time.ts";
import { spanOptions } from "./search.ts";
import { command, parseChoice, print, printOne, UsageError, wholeNumber } from "./command.ts";
import { inIst, operatorOption, withOperator } from "./operators.ts";
import { assertOutFolder, writeToOut } from "./out-file.ts";

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

const list = command({
  name: "payouts file list",
  summary: "list payout files, newest first",
  options: {
    status: { help: `only ${fileStates.join(", ")}` },
    ...spanOptions,
    limit: { default: "100", help: "how many at most" },
  },
  async run(options) {
    const state =
      options.status === undefined ? undefined : parseChoice("status", options.status, fileStates);
    const limit = Math.min(wholeNumber("limit", options.limit), 10_000);
    const rows = await withOperator(options, reading, ({ ctx }) =>
      listFiles(ctx, { state, limit, ...parseQuerySpan(options) }),
    );
    print(
      rows.map((row) => ({
        file_id: row.file_id,
        rail: row.rail,
        status: row.state,
        lines: row.line_count,
        amount_paise: row.paise,
        format: row.format.name,
        made_by: row.made_by,
        made_at: istTimestamp(row.made_at),
        sha256: row.sha256?.toString("hex") ?? null,
      })),
      options,
    );
  },
});

const show = command({
  name: "payouts file show",
  summary: "show a file: each payee with the payouts that its amount is made of",
  operand: "FILE_ID",
  options: {},
  async run(options, fileId) {
    const { lines, format, sha256, ...file } = await withOperator(options, reading, ({ ctx }) =>
      showFile(ctx, fileId),
    );
    const digest = sha256?.toString("hex") ?? null;
    printOne({ ...inIst(file), format: format.name, sha256: digest, lines }, options);
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

const voiding = command({
  name: "payouts file void",
  summary: "say that the bank never paid what it has not answered of a file; takes two people",
  operand: "FILE_ID",
  options: { reason: { required: true, help: "why" }, ...operatorOption },
  async run(options, fileId) {
    const { reason } = options;
    const told = await withOperator(options, writing, ({ ctx, actor }) =>
      voidFile(ctx, actor, { fileId, reason }),
    );
    printOne({ file_id: fileId, ...told }, options);
  },
});

/** The longer names first: a command is found by its first words. */
export const payoutFileCommands = [list, show, write, voiding, make];
