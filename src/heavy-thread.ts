// The entry module of worker threads, with the jobs they can run.

import { buildPack } from "./accounts/build-pack.ts";
import { readTableWorkbook, readWorkbook } from "./credits/read-workbook.ts";
import { searchCover } from "./cover/search-cover.ts";
import { netGroup } from "./netting/net-group.ts";
import { drawBills } from "./reports/bill-pdf.ts";
import { drawNotes } from "./reports/note-pdf.ts";
import { serveJobs } from "./platform/heavy/thread.ts";
import { writeWorkbook } from "./platform/sheets/write-xlsx.ts";
import { drawStatement } from "./reports/statement-pdf.ts";

serveJobs([
  readWorkbook,
  readTableWorkbook,
  searchCover,
  netGroup,
  drawNotes,
  drawBills,
  drawStatement,
  writeWorkbook,
  buildPack,
]);
