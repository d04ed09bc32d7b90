// Every page of the console, and where it is in the menu.

import { keyPages } from "./api-keys.js";
import { approvalPages } from "./approvals.js";
import { auditPages } from "./audit.js";
import { bankBookPages } from "./bank-book.js";
import { bankLinePages } from "./bank-line.js";
import { bankPages } from "./bank.js";
import { boardPages } from "./board.js";
import { calendarPages } from "./calendar.js";
import { creditPages } from "./credits.js";
import { crossPages } from "./crosses.js";
import { enquiryPages } from "./enquiries.js";
import { filePages } from "./files.js";
import { findPages } from "./find.js";
import { firmPages } from "./firms.js";
import { healthPages } from "./health.js";
import { housePages } from "./house.js";
import { inLawPages } from "./in-law.js";
import { letterPages } from "./letters.js";
import { mySignInPages } from "./my-sign-in.js";
import { noticePages } from "./notices.js";
import { orderPages } from "./orders.js";
import { payoutPages } from "./payouts.js";
import { peoplePages } from "./people.js";
import { questionPages } from "./questions.js";
import { readyPages } from "./ready.js";
import { requestPages } from "./requests.js";
import { settlementPages } from "./settlements.js";
import { portalPages } from "./portal.js";
import { statementPages } from "./statements.js";
import { taxPages } from "./taxes.js";
import { todayPages } from "./today.js";

/** @type {readonly import("./state.js").Page[]} */
export const pages = [
  ...todayPages,
  ...boardPages,
  ...orderPages,
  ...crossPages,
  ...housePages,
  ...settlementPages,
  ...portalPages,
  ...payoutPages,
  ...filePages,
  ...bankPages,
  ...bankBookPages,
  ...bankLinePages,
  ...approvalPages,
  ...questionPages,
  ...enquiryPages,
  ...firmPages,
  ...creditPages,
  ...keyPages,
  ...statementPages,
  ...taxPages,
  ...inLawPages,
  ...calendarPages,
  ...letterPages,
  ...noticePages,
  ...readyPages,
  ...healthPages,
  ...auditPages,
  ...requestPages,
  ...peoplePages,
  ...mySignInPages,
  ...findPages,
];

export const groups = [
  { name: "Market", paths: ["/today", "/board", "/orders", "/crosses", "/house"] },
  {
    name: "Money",
    paths: ["/queue", "/settlements", "/portal", "/payouts", "/files", "/bank", "/bank-statements"],
  },
  { name: "To decide", paths: ["/approvals", "/questions", "/enquiries"] },
  { name: "Clients", paths: ["/firms", "/credits", "/keys"] },
  { name: "Books", paths: ["/statements", "/invoices", "/taxes", "/house-in-law", "/calendar"] },
  {
    name: "Watch",
    paths: ["/letters", "/notices", "/requests", "/ready", "/health", "/audit", "/people"],
  },
];
