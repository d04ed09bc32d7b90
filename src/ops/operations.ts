// Every operation of the operators' API.

import type { FastifyContextConfig } from "fastify";

import { takeNoBodyAsEmpty } from "../platform/http/calls.ts";
import { bankOperations } from "./bank.ts";
import { deskOperations } from "./desks.ts";
import { moneyOperations } from "./money.ts";
import type { Operation } from "./operation.ts";
import { payoutOperations } from "./payouts.ts";
import { peopleOperations } from "./people.ts";
import { priceOperations } from "./prices.ts";
import { taxOperations } from "./taxes.ts";
import { worldOperations } from "./world.ts";

const declared: readonly Operation[] = [
  ...peopleOperations,
  ...deskOperations,
  ...worldOperations,
  ...priceOperations,
  ...moneyOperations,
  ...payoutOperations,
  ...bankOperations,
  ...taxOperations,
];

/** With the route's configuration for the edge. */
export const operations = declared.map((operation) => ({
  ...operation,
  config: toConfig(operation),
  preValidation: operation.body ? [takeNoBodyAsEmpty] : [],
}));

function toConfig({ permission }: Operation): FastifyContextConfig {
  return permission === "none" ? { keyless: true } : { permission };
}
