// The service with one defect: heavy work is done on the event loop. The control of the stalls.

import { onThisThread } from "../../src/platform/heavy/kinds.ts";
import { serveWith } from "./serve-with.ts";

await serveWith((ctx) => ({ ...ctx, heavy: onThisThread }));
