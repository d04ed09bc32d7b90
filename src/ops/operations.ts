// Every operation of the operators' API.

import { accountOperations } from "./accounts.ts";
import type { Operation } from "../platform/http/operation.ts";
import { bankOperations } from "./bank.ts";
import { deskOperations } from "./desks.ts";
import { houseOperations } from "./house.ts";
import { ledgerReportOperations } from "./attest.ts";
import { lookupOperations } from "./lookups.ts";
import { moneyOperations } from "./money.ts";
import { payoutOperations } from "./payouts.ts";
import { peopleOperations } from "./people.ts";
import { priceOperations } from "./prices.ts";
import { taxOperations } from "./taxes.ts";
import { worldOperations } from "./world.ts";

export const operations: readonly Operation[] = [
  ...peopleOperations,
  ...lookupOperations,
  ...deskOperations,
  ...worldOperations,
  ...priceOperations,
  ...moneyOperations,
  ...ledgerReportOperations,
  ...payoutOperations,
  ...bankOperations,
  ...taxOperations,
  ...accountOperations,
  ...houseOperations,
];
