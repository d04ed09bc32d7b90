// What is recorded of the commands beside their help: what each says alone, with --json and with an
// option that there is not, and then these calls, in their order, on a furnished service.

/** Ids of what there is, by the words that stand for them in a call. */
export type Things = Readonly<Record<string, string>>;

/**
 * They run until they are stopped, or say what depends on the machine or how long calls took; or the calls
 * need their turn.
 */
export const onlyHelp = [
  "serve",
  "mcp",
  "listen",
  "doctor",
  "retention list",
  "requests list",
  "sign-out",
];

/** Calls that only look. Each is made for people and for programs. */
export const looks = [
  "find FIRM",
  "find SCRIP",
  "find nobody",
  "desks show DESK",
  "firms show FIRM",
  "firms account FIRM",
  "firms account FIRM --reveal",
  "firms list --env live --limit 2",
  "firms list --env nowhere",
  "credits show SCRIP",
  "credits list --env live --status listed",
  "rates show --env live --scheme RODTEP --history",
  "orders show ORDER",
  "orders list --env live --side sell",
  "settlements show SETTLEMENT",
  "settlements list --status settled",
  "crosses show CROSS",
  "payouts show PAYOUT",
  "payouts list --status nothing",
  "payouts file show FILE",
  "payouts file --preview",
  "approvals show APPROVAL",
  "statements show FIRM --period 2026-11",
  "statements list --env live --period 2026-10",
  "tax invoices --env live",
  "calendar list --office bank --year 2026",
  "enquiries show ENQUIRY",
  "notices addresses --of desks",
  "audit export --env live --desk DESK",
  "payouts show pay_00000000000000000000000000",
];

/** Calls that change something. Each is made once. */
export const acts = [
  "keys issue --firm Recorded --env sandbox",
  "keys issue --firm Recorded --env sandbox --json",
  "keys revoke KEY",
  "plans set --name recorded --per-minute 5 --monthly 100",
  "desks set-commission --firm DESK --bps 5",
  "firms verify FIRM",
  "firms suspend FIRM --reason paused",
  "firms resume FIRM",
  "registry outage --env live --port bank --on maintenance",
  "registry outage --env live --port bank",
  "registry confirm inq_00000000000000000000000000 --reference T-1",
  "credits suspend SCRIP --env live --reason notice",
  "credits lift SCRIP --env live --reason notice",
  "house set --env live --legal-name Mint --iec AAPFU0939F --pan AAPFU0939F --tan MUMM01234C --gstin 27AAPFU0939F1ZV --address Mumbai --state 27 --signatory Rao --beneficiary Mint --account 50200012345678 --ifsc HDFC0000001 --bank HDFC",
  "house show --env live",
  "rates publish --env live --scheme RODTEP --mid-bps 9600",
  "market halt --env live --scheme RODTEP",
  "market open --env live --scheme RODTEP",
  "inventory add --env sandbox --scheme RODTEP --scrip-no REC0001 --face-paise 1000000 --expires-on 2028-10-01",
  "orders cancel ORDER",
  "settlements fund SETTLEMENT --reference UTR-1",
  "settlements confirm-transfer SETTLEMENT --reference ICEGATE-1",
  "settlements fail SETTLEMENT --reason timeout",
  "settlements reverse SETTLEMENT --reason forged",
  "crosses fund CROSS --reference UTR-2",
  "payouts release PAYOUT",
  "payouts send PAYOUT --utr HDFCR52026111500012345",
  "payouts confirm PAYOUT --reference statement",
  "payouts return PAYOUT --reason account_closed",
  "payouts resend PAYOUT",
  "payouts file write FILE --out out",
  "payouts file void FILE --reason unpaid",
  "bank import statement.csv",
  "bank queue assign LINE --to house --reason ours",
  "bank lines undo LINE --reason slip",
  "bank queue return LINE --utr HDFCR52026111500099999 --reason stranger",
  "deposits add --env live --firm FIRM --paise 100000 --reference HDFCR52026111500054321",
  "deposits add --env live --csv deposits.csv",
  "deposits reverse --env live --reference HDFCR52026111500054321 --reason mistake",
  "statements show FIRM --period 2026-11 --format csv --out statement-2026-11.csv",
  "statements archive --env live --period 2026-10 --out archive.tar.gz",
  "tax set --env live --line gst --from 2027-06-01 --cgst-bps 900 --sgst-bps 900 --igst-bps 1800 --state 27",
  "calendar import holidays.csv",
  "calendar add 2026-12-07 --office bank --name Declared",
  "calendar remove 2026-12-07 --office bank",
  "enquiries close ENQUIRY --outcome answered",
  "webhooks replay --webhook WEBHOOK",
  "notices add recorded@acme.example --desk DESK",
  "notices remove ADDRESS",
  "operators add --name ravi --role dealer",
  "operators disable --name ravi",
  "approvals reject APPROVAL --reason mistaken",
  "sign-in --name asha",
  "sign-in --name asha --code 000000 --password-file password",
];

/** What is said to commands that read their standard input; the answer to each line is waited for. */
export const conversations: Readonly<Record<string, readonly string[]>> = {
  "mcp --key ROOT_KEY --base-url BASE_URL": [
    {
      id: 1,
      method: "initialize",
      params: {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "recorded", version: "1" },
      },
    },
    { id: 2, method: "tools/call", params: { name: "whoAmI", arguments: {} } },
    { id: 3, method: "tools/call", params: { name: "readFirm", arguments: { firm_id: "nobody" } } },
    { id: 4, method: "tools/call", params: { name: "noSuchTool", arguments: {} } },
  ].map((asked) => JSON.stringify({ jsonrpc: "2.0", ...asked })),
};

/** Files that calls read. */
export const inputs: Readonly<Record<string, string>> = {
  "statement.csv":
    "date,reference,description,debit,credit,balance,remitter_name,remitter_account\n16/11/2026,HDFCR52026111600001,NEFT FROM A STRANGER,,100.00,200200.00,A Stranger,99\n",
  "deposits.csv": "firm_id,paise,reference\nFIRM,200000,HDFCR52026111500067890\n",
  password: "a wrong password\n",
  "holidays.csv": "office,day,name\nbank,2027-01-26,Republic Day\n",
};
