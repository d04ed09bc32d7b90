import { type Operation, operation } from "../platform/http/operation.ts";
import { whoAmI } from "./authenticate.ts";
import { mintKey, reissueKey } from "./issue-keys.ts";
import { updateKey } from "./narrow-keys.ts";
import { readUsage } from "./plans.ts";
import { keysOfDesk, readKey } from "./read-keys.ts";
import { revokeKey } from "./revoke-keys.ts";
import {
  Key,
  KeyParams,
  MintedKey,
  MintKeyBody,
  ReadUsageQuery,
  ReissuedKey,
  UpdateKeyBody,
  Usage,
  WhoAmI,
} from "./schema.ts";

const keys = { demand: "root key", tag: "Keys" } as const;

export const accessOperations: readonly Operation[] = [
  operation({
    id: "whoAmI",
    method: "GET",
    path: "/v1/whoami",
    demand: "any key",
    tag: "Keys",
    summary: "Who the service takes you for",
    description:
      "What the service knows about the key that was sent: its desk, firm, environment, scopes and limits. A good first call.",
    answer: WhoAmI,
    run: ({ caller }) => whoAmI(caller),
  }),
  operation({
    id: "mintKey",
    method: "POST",
    path: "/v1/keys",
    ...keys,
    summary: "Mint a child key",
    description:
      "The secret is in this answer and in no other. The plan says how many child keys a desk may have at a time.",
    body: MintKeyBody,
    creates: true,
    answer: MintedKey,
    again: Key,
    run: (call, body) => mintKey(call.ctx, call, body),
  }),
  operation({
    id: "listKeys",
    method: "GET",
    path: "/v1/keys",
    ...keys,
    summary: "List the keys of your desk",
    description: "Those that hold no more than yours does, and those it minted.",
    list: keysOfDesk,
  }),
  operation({
    id: "readKey",
    method: "GET",
    path: "/v1/keys/:key_id",
    ...keys,
    summary: "Read a key",
    description: "One that holds no more than yours does, or that yours minted.",
    params: KeyParams,
    answer: Key,
    run: ({ ctx, caller }, { key_id }) => readKey(ctx, caller, key_id),
  }),
  operation({
    id: "updateKey",
    method: "PATCH",
    path: "/v1/keys/:key_id",
    ...keys,
    summary: "Rename a key or narrow it",
    description:
      "A key never grows: a field that would give it more than it has is 422. Its children are narrowed with it, and one of which nothing is left is revoked. Acts on the next request. A root key with limits of its own manages only itself and its children.",
    params: KeyParams,
    body: UpdateKeyBody,
    answer: Key,
    run: (call, asked) => updateKey(call.ctx, call, asked),
  }),
  operation({
    id: "revokeKey",
    method: "DELETE",
    path: "/v1/keys/:key_id",
    ...keys,
    summary: "Revoke a key and its children",
    description:
      "A key that holds no more than yours does, or that yours minted. Acts on the next request. Revoking twice is no conflict.",
    params: KeyParams,
    answer: Key,
    run: (call, { key_id }) => revokeKey(call.ctx, call, key_id),
  }),
  operation({
    id: "reissueKey",
    method: "POST",
    path: "/v1/keys/:key_id/reissue",
    ...keys,
    summary: "Replace a key's secret",
    description:
      "A key that holds no more than yours does, or that yours minted. The old secret stops matching at once. A dry run shows no secret.",
    params: KeyParams,
    answer: ReissuedKey,
    run: (call, { key_id }) => reissueKey(call.ctx, call, key_id),
  }),
  operation({
    id: "readUsage",
    method: "GET",
    path: "/v1/usage",
    demand: "any key",
    tag: "Usage",
    summary: "Rate and quota numbers, and the month behind them",
    description:
      "The numbers of the X-RateLimit headers as JSON, with the calls of the month by day, by route and by key. A child key sees its own calls, a root key those of the keys under it too.",
    query: ReadUsageQuery,
    answer: Usage,
    run: (call, { month }) => readUsage(call.ctx, call, month),
  }),
];
