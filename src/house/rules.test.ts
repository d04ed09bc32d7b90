import assert from "node:assert/strict";
import { test } from "node:test";

import {
  findHouseProblems,
  type HouseParticulars,
  isOfHouse,
  listMissingParticulars,
  neededParticulars,
  normalizeHouse,
} from "./rules.ts";

const house: HouseParticulars = {
  legal_name: "Mint House Private Limited",
  iec: "AAGCB7383J",
  pan: "AAGCB7383J",
  tan: "BLRM01234C",
  gstin: "29AAGCB7383J1Z4",
  cin: "U51909KA2015PTC082321",
  address: ["12 Mint Road", "Bengaluru 560001"],
  state_code: "29",
  signatory: "Asha Rao, Director",
  bank: {
    beneficiary: "Mint House Private Limited",
    account_no: "50200012345678",
    ifsc: "HDFC0000001",
    bank: "HDFC Bank",
  },
};

test("a house is complete with what others need to deal with it, and with nothing less", () => {
  assert.deepEqual(listMissingParticulars(house), []);
  assert.deepEqual(listMissingParticulars({ ...house, gstin: null, tan: null, cin: null }), []);
  assert.deepEqual(listMissingParticulars(undefined), [...neededParticulars]);
  for (const name of neededParticulars) {
    const without = { ...house, [name]: name === "address" ? [] : null };
    assert.deepEqual(listMissingParticulars(without), [name]);
  }
});

test("particulars keep the rules of their identifiers and agree with each other", () => {
  assert.deepEqual(findHouseProblems(house), []);
  const wrong: readonly [Partial<HouseParticulars>, string][] = [
    [{ legal_name: " " }, "legal_name"],
    [{ pan: "AAGCB7383", iec: null, gstin: null }, "pan"],
    [{ iec: "AAPFU0939F" }, "iec"],
    [{ tan: "BLR0012345C" }, "tan"],
    [{ gstin: "29AAGCB7383J1Z5" }, "gstin"],
    [{ pan: "AAPFU0939F", iec: null, gstin: null }, "cin"],
    [{ address: ["one\ntwo"] }, "address"],
    [{ address: Array.from({ length: 7 }, () => "line") }, "address"],
    [{ state_code: "25", gstin: null }, "state_code"],
    [{ state_code: "27" }, "state_code"],
    [{ signatory: "x".repeat(101) }, "signatory"],
    [{ bank: { ...house.bank!, account_no: "12345678" } }, "bank.account_no"],
    [{ bank: { ...house.bank!, ifsc: "HDFC1000001" } }, "bank.ifsc"],
    [{ bank: { ...house.bank!, beneficiary: "" } }, "bank.beneficiary"],
  ];
  for (const [change, path] of wrong) {
    const found = findHouseProblems({ ...house, ...change });
    assert.deepEqual(
      found.map((problem) => problem.path),
      [path],
    );
  }
  const typed = { ...house, gstin: " 29aagcb7383j1z4", address: [" 12  Mint Road", ""] };
  const normal = normalizeHouse(typed);
  assert.deepEqual([normal.gstin, normal.address], ["29AAGCB7383J1Z4", ["12 Mint Road"]]);
});

test("a firm is the house by its PAN, by its IEC and by the PAN within its GSTIN", () => {
  const nobody = { iec: null, pan: null, gstin: null };
  const legacy = { iec: "0388012345", pan: "AAGCB7383J" };
  assert.ok(isOfHouse(legacy, { ...nobody, pan: "AAGCB7383J" }));
  assert.ok(isOfHouse(legacy, { ...nobody, iec: "AAGCB7383J" }));
  assert.ok(isOfHouse(legacy, { ...nobody, iec: "0388012345" }));
  assert.ok(isOfHouse(legacy, { ...nobody, gstin: "29AAGCB7383J1Z4" }));
  assert.equal(isOfHouse(legacy, { ...nobody, pan: "AAPFU0939F" }), false);
  assert.equal(isOfHouse(legacy, nobody), false);
  assert.equal(isOfHouse({ iec: null, pan: null }, nobody), false, "two that say nothing");
  assert.equal(isOfHouse(undefined, { ...nobody, pan: "AAGCB7383J" }), false);
});
