import { readFileSync, statSync } from "node:fs";

import { UsageError } from "./command.ts";

const fileBytesMax = 16 * 1_024 * 1_024;

export const reportOptions = {
  csv: { help: "a report of the customs portal as CSV; amounts are rupees" },
  xlsx: { help: "the same as an .xlsx workbook" },
} as const;

type ReportOptions = { readonly csv: string | undefined; readonly xlsx: string | undefined };

/** The report that a command was given; undefined where it was given none. */
export function readReportFile({
  csv,
  xlsx,
}: ReportOptions): { csv: string } | { xlsx: string } | undefined {
  if (csv !== undefined && xlsx !== undefined) throw new UsageError("give --csv or --xlsx");
  if (csv !== undefined) return { csv: readBytes("csv", csv).toString() };
  if (xlsx !== undefined) return { xlsx: readBytes("xlsx", xlsx).toString("base64") };
  return undefined;
}

export function readBytes(option: string, path: string): Buffer {
  try {
    const { size } = statSync(path);
    if (size <= fileBytesMax) return readFileSync(path);
  } catch (error) {
    throw new UsageError(`--${option} cannot be read: ${(error as Error).message}`);
  }
  throw new UsageError(`--${option} has more than ${fileBytesMax} bytes`);
}
