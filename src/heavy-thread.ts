// What the service's threads can do; this module is what they run.

import { searchCover } from "./cover/search-cover.ts";
import { netGroup } from "./netting/net-group.ts";
import { drawNotes } from "./notes/pdf-of-notes.ts";
import { serveJobs } from "./platform/heavy/thread.ts";
import { drawStatement } from "./statements/pdf-of-statement.ts";

serveJobs([searchCover, netGroup, drawNotes, drawStatement]);
