import { runLane } from "../support/lane.ts";

await runLane(import.meta.filename);
