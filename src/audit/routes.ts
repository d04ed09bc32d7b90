import { sendPage } from "../platform/calls.ts";
import { type Context, contextFor } from "../platform/context.ts";
import type { App } from "../platform/http.ts";
import { type LinesOptions, openLines } from "../platform/ndjson.ts";
import { exportAudit, type Exporting } from "./export-audit.ts";
import { listAudit } from "./list-audit.ts";
import { listAuditKeys } from "./list-audit-keys.ts";
import { AuditExport, AuditKeys, AuditList, ExportAuditQuery, ListAuditQuery } from "./schema.ts";

const exportsPerKeyMax = 2;

export function auditRoutes(
  app: App,
  ctx: Context,
  { deadAmong, onCheckpoint }: Pick<LinesOptions, "deadAmong"> & Pick<Exporting, "onCheckpoint">,
): void {
  const lines = openLines({ perKeyMax: exportsPerKeyMax, deadAmong });

  app.get(
    "/v1/audit",
    {
      config: { demand: "orders:read" },
      schema: {
        operationId: "listAudit",
        tags: ["Audit"],
        summary: "Who changed what on your desk",
        description: "Everything that was committed before the call. Not for sub_account keys.",
        querystring: ListAuditQuery,
        response: { 200: AuditList },
      },
    },
    async (request, reply) =>
      sendPage(
        reply,
        "audit",
        await listAudit(contextFor(ctx, request.caller), request.caller, request.query),
      ),
  );

  app.get(
    "/v1/audit/export",
    {
      config: { demand: "orders:read", streams: true },
      schema: {
        operationId: "exportAudit",
        tags: ["Audit"],
        summary: "Your desk's audit trail, to be verified without us",
        description: `Lines of JSON, each with the hash of the one before; the last is a signed checkpoint. An export without one is not whole. At most ${exportsPerKeyMax} at a time a key; the next waits for its turn. Not for sub_account keys.`,
        querystring: ExportAuditQuery,
        response: { 200: AuditExport },
      },
    },
    async (request, reply) =>
      await lines.send(request, reply, () =>
        exportAudit(
          { ...contextFor(ctx, request.caller), onCheckpoint },
          request.caller,
          request.query,
        ),
      ),
  );

  app.get(
    "/v1/audit/keys",
    {
      config: { demand: "any key" },
      schema: {
        operationId: "listAuditKeys",
        tags: ["Audit"],
        summary: "What exports are signed with",
        response: { 200: AuditKeys },
      },
    },
    async () => await listAuditKeys(ctx),
  );
}
