// Every operation of the operators' API.

import { accountOperations, proofOperations } from "./accounts.ts";
import type { Operation } from "../platform/http/operation.ts";
import { bankOperations } from "./bank.ts";
import { deskOperations, webhookOperations } from "./desks.ts";
import { houseOperations } from "./house.ts";
import { ledgerReportOperations } from "./attest.ts";
import { lookupOperations } from "./lookups.ts";
import { moneyOperations } from "./money.ts";
import { payoutOperations } from "./payouts.ts";
import { peopleOperations } from "./people.ts";
import { enquiryOperations, priceOperations } from "./prices.ts";
import { registryOperations } from "./registry.ts";
import { taxOperations } from "./taxes.ts";

export const operations: readonly Operation[] = [
  ...peopleOperations,
  ...lookupOperations,
  ...deskOperations,
  ...registryOperations,
  ...proofOperations,
  ...enquiryOperations,
  ...webhookOperations,
  ...priceOperations,
  ...moneyOperations,
  ...ledgerReportOperations,
  ...payoutOperations,
  ...bankOperations,
  ...taxOperations,
  ...accountOperations,
  ...houseOperations,
];
