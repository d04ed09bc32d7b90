// Every page of the console, and where it is in the menu.

import { approvalPages } from "./approvals.js";
import { bankPages } from "./bank.js";
import { boardPages } from "./board.js";
import { filePages } from "./files.js";
import { payoutPages } from "./payouts.js";
import { settlementPages } from "./settlements.js";

/** @type {readonly import("./state.js").Page[]} */
export const pages = [
  ...boardPages,
  ...approvalPages,
  ...settlementPages,
  ...payoutPages,
  ...filePages,
  ...bankPages,
];

export const groups = [
  { name: "Market", paths: ["/board", "/orders", "/crosses", "/house"] },
  { name: "Money", paths: ["/queue", "/settlements", "/payouts", "/files", "/bank"] },
  { name: "To decide", paths: ["/approvals", "/questions", "/enquiries"] },
  { name: "Clients", paths: ["/firms", "/credits", "/keys"] },
  { name: "Watch", paths: ["/letters", "/health", "/people"] },
];
