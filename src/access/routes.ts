import { type Context, contextFor } from "../platform/context.ts";
import { toCall, sendCreation, sendPage } from "../platform/http/calls.ts";
import type { App } from "../platform/http/server.ts";
import { whoAmI } from "./authenticate.ts";
import { mintKey, reissueKey } from "./issue-keys.ts";
import { readUsage } from "./plans.ts";
import { listKeys, readKey } from "./read-keys.ts";
import { revokeKey } from "./revoke-keys.ts";
import {
  Key,
  KeyList,
  KeyParams,
  ListKeysQuery,
  MintedKey,
  MintKeyBody,
  ReadUsageQuery,
  ReissuedKey,
  Usage,
  WhoAmI,
} from "./schema.ts";

export function keyRoutes(app: App, ctx: Context): void {
  app.get(
    "/v1/whoami",
    {
      config: { demand: "any key" },
      schema: {
        operationId: "whoAmI",
        tags: ["Keys"],
        summary: "Who the service takes you for",
        description:
          "What the service knows about the key that was sent: its desk, firm, environment, scopes and limits. A good first call.",
        response: { 200: WhoAmI },
      },
    },
    async (request) => whoAmI(request.caller),
  );

  app.post(
    "/v1/keys",
    {
      config: { demand: "root key", creates: true },
      schema: {
        operationId: "mintKey",
        tags: ["Keys"],
        summary: "Mint a child key",
        description:
          "The secret is in this answer and in no other. The plan says how many child keys a desk may have at a time.",
        body: MintKeyBody,
        response: { 201: MintedKey, 200: Key },
      },
    },
    async (request, reply) =>
      sendCreation(
        reply,
        await mintKey(contextFor(ctx, request.caller), toCall(request, reply), request.body),
      ),
  );

  app.get(
    "/v1/keys",
    {
      config: { demand: "root key" },
      schema: {
        operationId: "listKeys",
        tags: ["Keys"],
        summary: "List the keys of your desk",
        description: "Those that hold no more than yours does, and those it minted.",
        querystring: ListKeysQuery,
        response: { 200: KeyList },
      },
    },
    async (request, reply) =>
      sendPage(
        reply,
        "keys",
        await listKeys(contextFor(ctx, request.caller), request.caller, request.query),
      ),
  );

  app.get(
    "/v1/keys/:key_id",
    {
      config: { demand: "root key" },
      schema: {
        operationId: "readKey",
        tags: ["Keys"],
        summary: "Read a key",
        description: "One that holds no more than yours does, or that yours minted.",
        params: KeyParams,
        response: { 200: Key },
      },
    },
    async (request) =>
      await readKey(contextFor(ctx, request.caller), request.caller, request.params.key_id),
  );

  app.delete(
    "/v1/keys/:key_id",
    {
      config: { demand: "root key" },
      schema: {
        operationId: "revokeKey",
        tags: ["Keys"],
        summary: "Revoke a key and its children",
        description:
          "A key that holds no more than yours does, or that yours minted. Acts on the next request. Revoking twice is no conflict.",
        params: KeyParams,
        response: { 200: Key },
      },
    },
    async (request, reply) =>
      await revokeKey(
        contextFor(ctx, request.caller),
        toCall(request, reply),
        request.params.key_id,
      ),
  );

  app.post(
    "/v1/keys/:key_id/reissue",
    {
      config: { demand: "root key" },
      schema: {
        operationId: "reissueKey",
        tags: ["Keys"],
        summary: "Replace a key's secret",
        description:
          "A key that holds no more than yours does, or that yours minted. The old secret stops matching at once. A dry run shows no secret.",
        params: KeyParams,
        response: { 200: ReissuedKey },
      },
    },
    async (request, reply) =>
      await reissueKey(
        contextFor(ctx, request.caller),
        toCall(request, reply),
        request.params.key_id,
      ),
  );
}

export function usageRoutes(app: App, ctx: Context): void {
  app.get(
    "/v1/usage",
    {
      config: { demand: "any key" },
      schema: {
        operationId: "readUsage",
        tags: ["Usage"],
        summary: "Rate and quota numbers, and the month behind them",
        description:
          "The numbers of the X-RateLimit headers as JSON, with the calls of the month by day, by route and by key. A child key sees its own calls, a root key those of the keys under it too.",
        querystring: ReadUsageQuery,
        response: { 200: Usage },
      },
    },
    async (request) => await readUsage(contextFor(ctx, request.caller), request, request.query),
  );
}
