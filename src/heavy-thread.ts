// What the service's threads can do; this module is what they run.

import { netGroup } from "./netting/net-group.ts";
import { serveJobs } from "./platform/heavy/thread.ts";

serveJobs([netGroup]);
