import { runFiles } from "../support/run-files.ts";

await runFiles();
