// The cases of every request body, as the document shows them. A test sends each of them; ids and
// numbers in them stand for what the caller's own desk has.

import type { AnswerExample, BodyExample } from "./platform/http/openapi.ts";

const firmId = "frm_01jd2m7q4x8r5v6w9y0abcdefg";
const otherFirmId = "frm_01jd2m7q4x8r5v6w9y0abcdefh";
const person = { name: "Asha Rao", email: "asha@acme.example", consent: true };

const done = (summary: string, value: object): BodyExample => ({ summary, value, answer: 200 });
const created = (summary: string, value: object): BodyExample => ({ summary, value, answer: 201 });

const nothing = { nothing: done("It takes no fields", {}) };

const declaration = {
  scrip_no: "0310165320",
  scheme: "RODTEP",
  face_paise: 25_000_000,
  issued_on: "2026-10-01",
  expires_on: "2028-10-01",
};

/** A workbook of one sheet with one credit, 0310165323. */
const workbook = [
  "UEsDBBQAAAAIAAAAIVwcdPw42QAAAPYBAAATAAAAW0NvbnRlbnRfVHlwZXNdLnhtbK2RvW7DMAyEX8XQWkRMO3Qo4ixt17ZDX4CV",
  "6Viw/iAyqfv2lZWfIUgyZSIk3t13AFfff4m4mbwL3KpBJL0AsBnII+uYKJRNH7NHKc+8gYRmxA3B03L5DCYGoSALmTPUevVGPW6d",
  "NO9T+WYbQ6syOVbN6144s1qFKTlrUMoedqE7oywOBF2cVcODTfxQBAouEubNdcDB97mjnG1HzRdm+UBfVDA5+I15/Ilx1LdDLrSM",
  "fW8NddFsfbFoTpmw44FIvNN1ao82HHvf4FcxQx2Pdy5yyj/2gHru9T9QSwMEFAAAAAgAAAAhXKtfhmeGAAAA7QAAAAsAAABfcmVs",
  "cy8ucmVsc43PPQ4CIRQE4KsQDrBvY2FhFiobW+MFEB8/4ecRwLjeXkrXWGw5mcmXzHLFqLqn3Jwvja0p5ia4672cAJp2mFSbqGAe",
  "jaGaVB+xWihKB2URDvN8hPptcLkx2eUheOXs9i64ByZjvMYz6WfC3P/4P4shq2qxC75GeFENd6IwDZSDXGDzTn4AUEsDBBQAAAAI",
  "AAAAIVz2Lw0tjwAAAOEAAAAPAAAAeGwvd29ya2Jvb2sueG1sjY89DsIwDIWvEuUAuDAwVG0nFmZOEFKXRK3jyA6C4xNaujP55+l9",
  "T697scx35tm8aUna21BKbgHUBySnB86YqjKxkCv1lAdoFnSjBsRCC5ya5gzkYrIboZV/GDxN0eOF/ZMwlQ0iuLgSOWmIWe3QrQn6",
  "myY5wt7evHxFs/6uY2+P1kgb6yIWhg52D+y1hg9QSwMEFAAAAAgAAAAhXMnxvtSKAAAA7gAAABoAAAB4bC9fcmVscy93b3JrYm9v",
  "ay54bWwucmVsc43PPQoCMRAF4KuEHGBntbCQTSobW/ECIU5+2M0PmRH19gYLccFiq2Hegw/edMHFcCyZQqwknmnJpGRgrkcAsgGT",
  "oaFUzL1xpSXD/W0eqrGz8Qj7cTxA+zWkXpnifFOySXF9VdwCF+eixVOx94SZ//jwKG2mgMgdNc0jK/mNCD5nN3RVgp5gNU+/AVBL",
  "AwQUAAAACAAAACFcOB1QJvUAAACNAgAAGAAAAHhsL3dvcmtzaGVldHMvc2hlZXQxLnhtbIWS307DIBSHX6XpA+wAtdUYSjJtL7xR",
  "43wBrGiJ5U+AbvPtR5el2QVkd/AjH+fwcejBuD8/ChGKo5q0b8sxBPsI4IdRKO43xgodT36MUzzErfsFb53g32dITUAQakBxqUtG",
  "z1nHA2fUmUPh2hLHdFgWW1wWoS2lnqQWu+BiLj2jge0GJ23xOqsv4SgERmHJYbhwT3kuNigSxHOO2Coz65Aguhzx4v0sivigVJ0+",
  "R/VHK91/AoMoZTVDVjMkcw+qMMJNXZEq5SVHfbx1n/17ystScc8wqe7q5n5TU9hfO8h2gQGj+MukSTm4ST2kFMDVoMA6gewEUEsB",
  "AhQAFAAAAAgAAAAhXBx0/DjZAAAA9gEAABMAAAAAAAAAAAAAAAAAAAAAAFtDb250ZW50X1R5cGVzXS54bWxQSwECFAAUAAAACAAA",
  "ACFcq1+GZ4YAAADtAAAACwAAAAAAAAAAAAAAAAAKAQAAX3JlbHMvLnJlbHNQSwECFAAUAAAACAAAACFc9i8NLY8AAADhAAAADwAA",
  "AAAAAAAAAAAAAAC5AQAAeGwvd29ya2Jvb2sueG1sUEsBAhQAFAAAAAgAAAAhXMnxvtSKAAAA7gAAABoAAAAAAAAAAAAAAAAAdQIA",
  "AHhsL19yZWxzL3dvcmtib29rLnhtbC5yZWxzUEsBAhQAFAAAAAgAAAAhXDgdUCb1AAAAjQIAABgAAAAAAAAAAAAAAAAANwMAAHhs",
  "L3dvcmtzaGVldHMvc2hlZXQxLnhtbFBLBQYAAAAABQAFAEUBAABiBAAAAAA=",
].join("");

export const bodyExamples: Readonly<Record<string, Readonly<Record<string, BodyExample>>>> = {
  mintKey: {
    app: created("For an application of the whole desk", {
      name: "ERP Pune",
      kind: "app",
      scopes: ["quote", "orders:read"],
    }),
    client_firm: created("For one client firm", {
      name: "Branch Surat",
      kind: "sub_account",
      firm_id: firmId,
      scopes: ["quote", "orders:write", "orders:read"],
    }),
    limited: created("With limits, an end and a network", {
      name: "Night run",
      kind: "app",
      scopes: ["quote", "orders:write"],
      expires_at: "2027-03-31T23:59:59+05:30",
      ip_allowlist: ["127.0.0.1", "203.0.113.0/24"],
      limits: { per_minute: 30, max_order_paise: 500_000_000 },
    }),
  },
  updateKey: {
    rename: done("Another name", { name: "ERP Pune, night run" }),
    narrow: done("Only reads and a lower rate from now on", {
      scopes: ["orders:read"],
      limits: { per_minute: 30 },
    }),
    no_withdrawals: done("No money goes out by it", { limits: { withdrawals: false } }),
  },
  registerFirm: {
    exporter: created("An exporter, with its account", {
      legal_name: "Acme Exports Private Limited",
      iec: "AAGCB7383J",
      pan: "AAGCB7383J",
      gstin: "29AAGCB7383J1Z4",
      cin: "U51909KA2015PTC082321",
      email: "accounts@acme.example",
      phone: "+919820012345",
      bank: {
        account_no: "50200012345678",
        ifsc: "HDFC0000001",
        name: "Acme Exports Private Limited",
      },
      role: "exporter",
      external_id: "ERP-1042",
    }),
    importer: created("An importer, with what is required", {
      legal_name: "Konkan Imports LLP",
      iec: "AABCT1234K",
      pan: "AABCT1234K",
      email: "desk@konkan.example",
      role: "importer",
    }),
  },
  updateFirm: {
    contact: done("How it is reached", { email: "finance@acme.example", phone: "+919820054321" }),
    account: done("Where its money goes; payouts wait until the bank confirms the account", {
      bank: {
        account_no: "50200087654321",
        ifsc: "HDFC0000001",
        name: "Acme Exports Private Limited",
      },
    }),
    clear: done("Null takes an optional field away", { external_id: null, phone: null }),
  },
  verifyFirm: nothing,
  authorizeFirm: {
    mandate: done("The mandate that lets your desk trade for it", {
      mandate: {
        signatory_name: "R. Mehta",
        reference: "MND-2026-0042",
        valid_until: "2027-10-31",
      },
    }),
  },
  suspendFirm: {
    review: done("With a reason for whoever looks later", { reason: "mandate under review" }),
  },
  resumeFirm: nothing,
  offboardFirm: {
    now: done("At once; refused while business is open", {}),
    drain: done("When its open business is done", { mode: "drain" }),
  },
  createGroup: { group: created("A group by its name", { name: "Sahyadri" }) },
  updateGroup: { rename: done("Another name", { name: "Sahyadri Group" }) },
  declareRequirement: {
    either: created("Basic customs duty that credits of either scheme may cover", {
      amount_paise: 4_200_000,
      due_on: "2027-01-31",
      reference: "BE-2026-004711",
    }),
    one_scheme: created("Basic customs duty that one scheme is to cover", {
      scheme: "RODTEP",
      amount_paise: 9_900_000,
      due_on: "2027-01-31",
      reference: "BE-2026-004712",
    }),
  },
  updateRequirement: {
    later: done("Another amount, due later", { amount_paise: 4_500_000, due_on: "2027-02-15" }),
    either: done("Either scheme again", { scheme: null }),
  },
  coverRequirement: {
    now: created("At the current binding price", {}),
    limit: created("At 98.90 % of face at most, resting until a day before it is due", {
      limit_bps: 9_890,
      expires_at: "2027-01-30T17:30:00+05:30",
    }),
  },
  crossNetting: {
    netting: created("The netting that was read", {
      netting_ref: "net_01jd2m7q4x8r5v6w9y0abcdefg",
    }),
  },
  declareCredits: {
    one: done("One credit", { credits: [declaration] }),
    several: done("Several, each answered by itself", {
      credits: [
        { ...declaration, scrip_no: "0310165321" },
        {
          ...declaration,
          scrip_no: "0123/ROSCTL/4567",
          scheme: "ROSCTL",
          issued_paise: 30_000_000,
          port_code: "INNSA1",
        },
      ],
    }),
  },
  importCredits: {
    report: done("The customs portal's report, amounts in rupees", {
      csv: 'Scrip Number,Scheme,Amount,Balance,Issue Date,Expiry Date\n0310165322,RODTEP,"12,34,567.00","12,34,567.00",01/10/2026,01/10/2028\n',
    }),
    workbook: done("The same as an .xlsx workbook, in base64", { xlsx: workbook }),
  },
  useCredit: {
    part: done("A part that paid a bill of entry", {
      bill_of_entry: "7781234",
      used_on: "2026-11-14",
      port: "INNSA1",
      amount_paise: 1_000_000,
    }),
    rest: done("All that is left, on one bill", {
      bill_of_entry: "7781235",
      used_on: "2026-11-15",
      port: "INNSA1",
    }),
    all: done("All of it, without a bill", {}),
  },
  takeQuote: {
    sell_amount: done("Sell an amount", { side: "sell", scheme: "RODTEP", face_paise: 25_000_000 }),
    sell_credit: done("Sell one credit", { side: "sell", scrip_no: "0310165320" }),
    buy: done("Buy cover for basic customs duty", {
      side: "buy",
      scheme: "RODTEP",
      requirement_paise: 25_000_000,
    }),
  },
  placeOrder: {
    buy: created("Buy cover for basic customs duty at the current price", {
      side: "buy",
      scheme: "RODTEP",
      requirement_paise: 25_000_000,
      metadata: { bill_of_entry: "BE-2026-004711" },
    }),
    quote: created("Take a quote at its price", { quote_ref: "qte_01jd2m7q4x8r5v6w9y0abcdefg" }),
    sell_now: created("Sell one credit at the current price", {
      side: "sell",
      scrip_no: "0310165320",
      client_ref: "INV-2026-0815",
    }),
    sell_amount: created("Sell whole credits of a firm, up to an amount", {
      side: "sell",
      scheme: "RODTEP",
      face_paise: 30_000_000,
      firm_id: firmId,
    }),
    sell_limit: created("Sell at a limit, until it is cancelled", {
      side: "sell",
      scrip_no: "0310165320",
      limit_bps: 9_950,
      time_in_force: "GTC",
    }),
  },
  takeQuoteBatch: {
    two: done("A sell and a buy", {
      quotes: [
        { side: "sell", scheme: "RODTEP", face_paise: 25_000_000 },
        { side: "buy", scheme: "RODTEP", requirement_paise: 4_200_000 },
      ],
    }),
  },
  placeOrderBatch: {
    two: done("Two sales, each with its own key and result", {
      orders: [
        { side: "sell", scrip_no: "0310165320", idempotency_key: "2026-11-15-1" },
        { side: "sell", scrip_no: "0310165321", idempotency_key: "2026-11-15-2" },
      ],
    }),
  },
  quoteCross: {
    block: done("A block with a firm of another desk", {
      kind: "block",
      side: "sell",
      firm_id: firmId,
      counterparty_iec: "AABCT1234K",
      scrip_nos: ["0310165320"],
      price_bps: 9_800,
    }),
    intra_group: done("Within a group of yours, at the mid", {
      kind: "intra_group",
      side: "sell",
      firm_id: firmId,
      counterparty_firm_id: otherFirmId,
      scrip_nos: ["0310165320"],
    }),
    to_be_chosen: done("A block by amount; the seller chooses the credits", {
      kind: "block",
      side: "buy",
      firm_id: firmId,
      counterparty_iec: "AABCT1234K",
      scheme: "RODTEP",
      face_paise: 1_000_000_000,
      price_bps: 9_800,
    }),
  },
  proposeCross: {
    quote: created("The quoted terms", { cross_quote_ref: "cqt_01jd2m7q4x8r5v6w9y0abcdefg" }),
  },
  acceptCross: {
    terms: done("The terms as the cross shows them", {
      terms_hash: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    }),
  },
  declineCross: nothing,
  fundCross: { payment: done("Your own name for the payment", { payment_ref: "PAY-2026-0042" }) },
  releaseCross: nothing,
  cancelCross: nothing,
  advanceSettlement: nothing,
  finishTask: {
    initiated: done("The transfer is on the portal", { reference: "ICEGATE-7781" }),
  },
  reportMissing: {
    nothing_there: done("The portal shows nothing to accept", {
      note: "Looked at 11:00 and at 15:00.",
    }),
    nothing: done("Without more", {}),
  },
  withdrawMoney: {
    part: created("So much of what is available", { amount_paise: 1_000_000 }),
  },
  setApprovalRules: {
    both: done("Bank changes, and withdrawals from five lakh rupees a day", {
      bank_changes: true,
      withdrawals_from_paise: 50_000_000,
    }),
  },
  proposeAct: {
    withdrawal: created("A withdrawal", {
      kind: "withdrawal",
      firm_id: firmId,
      amount_paise: 1_000_000,
    }),
    bank_change: created("Another bank account of a firm", {
      kind: "bank_change",
      firm_id: firmId,
      bank: { account_no: "50200012345679", ifsc: "HDFC0000001", name: "Acme Exports" },
    }),
    rules: created("To ask for less", {
      kind: "rules",
      rules: { bank_changes: true, withdrawals_from_paise: null },
    }),
  },
  approveAct: nothing,
  rejectAct: { unasked: done("What nobody asked for", { reason: "the firm did not ask for it" }) },
  advanceClock: { day: done("By a day", { advance_s: 86_400 }) },
  setScenario: {
    refused: done("The next transfer is refused", { scenario: "transfer_refused" }),
    returned: done("The next payout is sent back", { scenario: "payout_returned" }),
  },
  seedSandbox: {
    own: done("For the key's own firm", { count: 20 }),
    firm: done("For a client firm, of one scheme, the same each time", {
      firm_id: firmId,
      count: 5,
      scheme: "RODTEP",
      seed: "demo",
    }),
  },
  resetSandbox: nothing,
  registerWebhook: {
    every: created("Every event", { url: "https://erp.example/hooks/scripdesk", event: "*" }),
    one: created("One event", {
      url: "https://erp.example/hooks/settled",
      event: "settlement.settled",
    }),
    several: created("Several events", {
      url: "https://erp.example/hooks/deals",
      events: ["order.matched", "settlement.settled"],
      description: "The ERP's deals",
    }),
  },
  updateWebhook: {
    events: done("Other events", { events: ["order.matched", "settlement.settled"] }),
    pause: done("Nothing for now", { status: "paused" }),
  },
  rotateSecret: {
    default: done("The old secret signs for a day more", {}),
    hour: done("For an hour more", { grace_s: 3_600 }),
  },
  replayDeliveries: {
    all: done("All dead letters", {}),
    these: done("These", { delivery_ids: ["dlv_0f1e2d3c4b5a69788796a5b4c3"] }),
    since: done("Those of one webhook, of events since a time", {
      webhook_id: "whk_01jd2m7q4x8r5v6w9y0abcdefg",
      since: "2026-11-15T00:00:00+05:30",
    }),
  },
  submitSellEnquiry: {
    sell: created("A face to sell", {
      ...person,
      scheme: "RODTEP",
      face_paise: 100_000_000,
      iec: "AAGCB7383J",
    }),
  },
  submitBuyEnquiry: {
    buy: created("Basic customs duty to cover", {
      ...person,
      scheme: "ROSCTL",
      requirement_paise: 100_000_000,
      phone: "+919820012345",
    }),
  },
  submitContactEnquiry: {
    question: created("Anything else", {
      ...person,
      message: "Do you take credits of a merged firm?",
    }),
  },
};

const quoteRef = "qte_01jd2m7q4x8r5v6w9y0abcdefg";

/** What a quote may be answered with: a price for one side or the other, or none. */
export const answerExamples: Readonly<Record<string, Readonly<Record<string, AnswerExample>>>> = {
  takeQuote: {
    sell: {
      summary: "A price for a sale",
      value: {
        side: "sell",
        scheme: "RODTEP",
        face_paise: 25_000_000,
        price_bps: 9_765,
        all_in_paise: 24_412_500,
        valid_until: "2026-11-15T09:30:30.000+05:30",
        quote_ref: quoteRef,
      },
    },
    buy: {
      summary: "A price for cover",
      value: {
        side: "buy",
        scheme: "RODTEP",
        requirement_paise: 25_000_000,
        price_bps: 9_865,
        all_in_paise: 23_676_000,
        savings_paise: 324_000,
        scrip_nos: ["0123/RODTEP/4567", "0123/RODTEP/4571"],
        covered_paise: 24_000_000,
        residual_paise: 1_000_000,
        fully_covered: false,
        quote_ref: quoteRef,
      },
    },
    no_quote: {
      summary: "No price now",
      value: { no_quote: true, reason: "market_unavailable" },
    },
  },
};
