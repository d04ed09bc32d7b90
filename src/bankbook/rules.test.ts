import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { Failure } from "../kernel/failure.ts";
import { newId } from "../kernel/ids.ts";
import { advance } from "../kernel/lifecycle.ts";
import { rupeesPlain } from "../kernel/money.ts";
import { genericStatement, parseStatement, parseStatementFormat } from "./read-statement.ts";
import {
  bankLineLifecycle,
  bankLineStates,
  findProof,
  type MatchContext,
  planLine,
  type StatementLine,
} from "./rules.ts";

const blank: StatementLine = {
  ordinal: 1,
  day: "2026-11-15",
  valueAt: new Date("2026-11-14T18:30:00Z"),
  direction: "credit",
  paise: 100,
  reference: "HDFCR52026000000001",
  narration: "",
  remitterName: "",
  remitterAccount: "",
  balancePaise: null,
};

const nothing: MatchContext = {
  remittances: new Map(),
  byUtr: new Map(),
  returning: new Map(),
  targets: new Map(),
  numbered: new Map(),
  payments: [],
  remitters: new Map(),
};

test("a bank line has eight moves and no other", () => {
  const edges = new Set([
    "new match",
    "new queue",
    "new repeat",
    "queued assign",
    "queued repeat",
    "queued send_back",
    "assigned undo",
    "returning return",
  ]);
  for (const state of bankLineStates) {
    for (const action of Object.keys(
      bankLineLifecycle.moves,
    ) as (keyof typeof bankLineLifecycle.moves)[]) {
      const go = () => advance(bankLineLifecycle, state, action);
      if (edges.has(`${state} ${action}`)) go();
      else assert.throws(go, Failure);
    }
  }
});

const acme = {
  environment: "live" as const,
  accounts: ["50200012345678", "60100099998888"],
  name: "Acme Exports Pvt. Ltd.",
};

test("a confirmed account proves the remitter, and the confirmed name only where the form has no accounts", () => {
  const from = (remitterName: string, remitterAccount: string | null) =>
    findProof({ remitterName, remitterAccount }, acme);
  assert.equal(from("anybody", "5020 0012 345678"), "account");
  assert.equal(from("anybody", "60100099998888"), "account");
  assert.equal(from("ACME EXPORTS PVT LTD", null), "name");
  assert.equal(from("ACME EXPORTS PVT LTD", ""), undefined);
  assert.equal(from("ACME EXPORTS PVT LTD", "50200012345679"), undefined);
  assert.equal(from("ACME EXPORTS", null), undefined);
  const unproven = { accounts: [], name: null };
  assert.equal(findProof({ remitterName: "", remitterAccount: null }, unproven), undefined);
  assert.equal(findProof({ remitterName: "", remitterAccount: "" }, unproven), undefined);
});

const now = new Date("2026-11-15T10:00:00Z");
const fromAcme = { remitterAccount: "50200012345678" };
const known: MatchContext = { ...nothing, remitters: new Map([["acme", acme]]) };

test("a line that names two deals, or a deal and another firm, goes to the queue", () => {
  const [one, two] = [newId("stl", now), newId("stl", now)];
  const targets = new Map([
    [one, { firmId: "acme", dealId: one }],
    [two, { firmId: "acme", dealId: two }],
  ]);
  const plan = (narration: string) =>
    planLine({ ...blank, ...fromAcme, narration }, { ...known, targets });
  assert.deepEqual(plan(one), {
    to: "deposit",
    firm_id: "acme",
    deal_id: one,
    found_by: "deal",
    proved_by: "account",
  });
  const named = { firm_id: "acme" };
  const both = plan(`${one} ${two}`);
  assert.deepEqual(both, { to: "queue", reason: "ambiguous_reference", ...named });
  assert.deepEqual(plan(""), { to: "queue", reason: "no_reference" });
  assert.deepEqual(plan(newId("stl", now)), { to: "queue", reason: "unknown_reference" });
  const stranger = { ...blank, remitterAccount: "999", remitterName: acme.name, narration: one };
  assert.deepEqual(planLine(stranger, { ...known, targets }), {
    to: "queue",
    reason: "third_party",
    ...named,
  });
});

test("a payment's name finds its cross only whole, long enough, exact and from the buyer's account, and never against an id", () => {
  const payment = { name: "Pay-2026/0042", paise: 100, firmId: "acme", crossId: "crs_1" };
  const paying = (line: Partial<StatementLine>, payments = [payment]) => {
    const planned = planLine(
      { ...blank, ...fromAcme, narration: "RTGS PAY 2026 0042 ACME", ...line },
      { ...known, payments },
    );
    return planned.to === "queue" ? planned.reason : planned.to;
  };
  assert.equal(paying({}), "deposit");
  assert.equal(paying({ narration: "pay-2026-0042" }), "deposit");
  assert.equal(paying({ narration: "XPAY20260042" }), "no_reference");
  assert.equal(paying({ narration: "PAY202600421" }), "no_reference");
  assert.equal(paying({ paise: 101 }), "no_reference");
  assert.equal(paying({ remitterAccount: "999" }), "no_reference");
  assert.equal(paying({ remitterAccount: null, remitterName: acme.name }), "no_reference");
  assert.equal(paying({}, [{ ...payment, name: "A-----" }]), "no_reference");
  assert.equal(
    paying({ narration: "P 0042" }, [{ ...payment, name: "P-----0042" }]),
    "no_reference",
  );
  const other = { ...payment, crossId: "crs_2" };
  assert.equal(paying({}, [payment, other]), "ambiguous_reference");
  const narration = `PAY-2026-0042 ${newId("frm", now)}`;
  assert.equal(paying({ narration }), "unknown_reference", "an id outvotes a name");
});

test("a returned payout is its UTR and exact amount, unless the line has somebody else's account", () => {
  const utr = "HDFCR52026000000077";
  const sent = {
    leadId: "pay_1",
    firmId: "acme",
    fileId: null,
    paise: 100,
    isVoid: false,
    account: "70001",
  };
  const returned = (line: Partial<StatementLine>) => {
    const planned = planLine(
      { ...blank, narration: `RETURN OF ${utr}`, ...line },
      { ...known, byUtr: new Map([[utr, sent]]) },
    );
    return planned.to === "queue" ? planned.reason : planned.to;
  };
  assert.equal(returned({}), "remittance");
  assert.equal(returned({ remitterAccount: null, remitterName: "Somebody Else" }), "remittance");
  assert.equal(returned({ remitterAccount: "70001" }), "remittance");
  assert.equal(returned({ remitterAccount: "50200012345678" }), "remittance");
  assert.equal(returned({ remitterAccount: "999" }), "third_party");
  assert.equal(returned({ paise: 99 }), "amount_differs");
  assert.equal(returned({ narration: `${utr}9` }), "no_reference", "a UTR is a whole word");
});

test("a written statement reads back with its lines, opening and closing balance", async () => {
  const line = fc.record({
    paise: fc.integer({ min: 1, max: 9_000_000_000_000 }),
    isDebit: fc.boolean(),
    narration: fc.stringMatching(/^[A-Z0-9 "',;]{0,20}$/),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 6 }), async (lines) => {
      let balance = 0;
      const rows = lines.map(({ paise, isDebit, narration }) => {
        balance += isDebit ? -paise : paise;
        const cells = isDebit ? [rupeesPlain(paise), ""] : ["", rupeesPlain(paise)];
        const quoted = `"${narration.replaceAll('"', '""')}"`;
        return ["2026-11-15", "R1", quoted, ...cells, rupeesPlain(balance), "", ""].join(",");
      });
      const heading =
        "Date,Reference,Description,Debit,Credit,Balance,Remitter_name,Remitter_account";
      const read = await parseStatement({ csv: [heading, ...rows].join("\n") }, genericStatement);
      assert.deepEqual(
        read.lines.map(({ paise, direction, narration }) => [paise, direction, narration]),
        lines.map(({ paise, isDebit, narration }) => [
          paise,
          isDebit ? "debit" : "credit",
          narration.trim(),
        ]),
      );
      assert.deepEqual([read.openingPaise, read.closingPaise], [0, balance]);
    }),
  );
});

test("a table of headings reads a bank's own format, and a missing column is named", async () => {
  const format = parseStatementFormat({
    name: "first-bank",
    day: "Txn Date",
    reference: "Chq/Ref",
    narration: "Particulars",
    amount: "Amount",
    direction: "Cr/Dr",
  });
  const text =
    'Txn Date,Chq/Ref,Particulars,Amount,Cr/Dr\n05-Nov-2026,ABC,Hello,"1,23,456.50",DR\n';
  const [line] = (await parseStatement({ csv: text }, format)).lines;
  assert.deepEqual([line?.day, line?.direction, line?.paise], ["2026-11-05", "debit", 12_345_650]);
  await assert.rejects(parseStatement({ csv: `"Txn Date"x${text.slice(8)}` }, format), (error) => {
    assert.match(JSON.stringify((error as Failure).detail), /row 1.*text follows a closing/);
    return true;
  });
  const problem = (value: unknown) => () => parseStatementFormat(value);
  assert.throws(problem({ ...format, amount: undefined }), Failure);
  assert.throws(problem({ ...format, debit: "D", credit: "C" }), Failure);
  assert.throws(problem({ ...format, colour: "red" }), Failure);
  assert.throws(problem(null), Failure);
});
