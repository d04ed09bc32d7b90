import { sendPage } from "../platform/http/calls.ts";
import { type Operation, operation } from "../platform/http/operation.ts";
import { listRequests, readRequest } from "./read-requests.ts";
import type { Recorder } from "./record-requests.ts";
import { ListRequestsQuery, Request, RequestList, RequestParams } from "./schema.ts";

declare module "../platform/http/operation.ts" {
  interface DeskWiring {
    readonly recorder: Recorder;
  }
}

const reading = { method: "GET", demand: "orders:read", tag: "Usage" } as const;

export const requestOperations: readonly Operation[] = [
  operation({
    id: "listRequests",
    path: "/v1/requests",
    ...reading,
    summary: "List your calls of the last 30 days",
    description:
      "Newest first: what was asked, what it was answered and what it made, without bodies and " +
      "queries. A root key sees the calls of its desk, any other key its own. They are kept as " +
      "well as we can: a crash may lose the last second.",
    query: ListRequestsQuery,
    answer: RequestList,
    run: async ({ ctx, caller, wiring }, asked) =>
      await listRequests({ ...ctx, ...wiring }, caller, asked),
    send: (reply, page) => sendPage(reply, "requests", page),
  }),
  operation({
    id: "readRequest",
    path: "/v1/requests/:request_id",
    ...reading,
    summary: "Read a call by the id of its answer",
    description: "The newest, where your gateway gave several the same id.",
    params: RequestParams,
    answer: Request,
    run: async ({ ctx, caller, wiring }, { request_id }) =>
      await readRequest({ ...ctx, ...wiring }, caller, request_id),
  }),
];
