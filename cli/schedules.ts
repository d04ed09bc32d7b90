import { lookupOperations } from "../src/ops/lookups.ts";
import { deriveFrom } from "./derived.ts";

const derive = deriveFrom(lookupOperations);

export const commands = [
  derive("listSchedules", "schedules list"),
  derive("listDroppedFiles", "schedules files", {
    columns: "file_id folder name outcome said machine at",
  }),
];
