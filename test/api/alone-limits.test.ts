// What one person brings in alone in a day is one sum, whichever command it is brought in by.

import assert from "node:assert/strict";
import { test } from "node:test";

import { approvalKinds } from "../../src/approval-kinds.ts";
import { actWithApproval } from "../../src/operators/act-with-approval.ts";
import { namedOperator } from "../../src/kernel/actor.ts";
import type { ApprovalKind } from "../../src/operators/approval-kind.ts";
import { listKindsSummed } from "../../src/operators/approval-rules.ts";
import { startService } from "../support/service.ts";

const crore = 1_000_000_000;
const environment = "live" as const;

/** Every kind of act, and whether it brings money or credits in. A new one is judged here. */
const bringsIn: Readonly<Record<string, boolean>> = {
  "settlement.reverse": false,
  "payout.release": false,
  "payout.send": false,
  "payout_file.make": false,
  "payout_file.void": false,
  "bank.import": true,
  "bank.assign": true,
  "bank.undo": false,
  "bank.return": false,
  "bank.repeat": false,
  "deal.fund": true,
  "commission.pay": false,
  "deposit.add": true,
  "deposit.reverse": false,
  "inventory.add": true,
  "question.attest": true,
  "rate_card.publish": false,
  "operator.add": false,
  "operator.reset": false,
  "operator.grant": false,
  "machine.add": false,
  "paying_account.add": false,
  "house.set": false,
  "number_form.set": false,
  "settlement.take_back": false,
};

test("every kind of act that brings money in is summed with all others that do", () => {
  const names = approvalKinds.map(({ name }) => name);
  assert.deepEqual(names.toSorted(), Object.keys(bringsIn).toSorted());
  const together = names.filter((name) => bringsIn[name]).toSorted();
  for (const name of names) {
    const expected = bringsIn[name] ? together : [name];
    assert.deepEqual(listKindsSummed(name).toSorted(), expected, name);
  }
});

test("no two kinds that bring money in pass the limit of one person one after the other", async (t) => {
  const service = await startService(t);
  const names = approvalKinds.map(({ name }) => name).filter((name) => bringsIn[name]);
  for (const first of names) {
    for (const second of names) {
      const actor = { ...namedOperator(`${first} ${second}`), role: "settlement" as const };
      const act = async (name: string, valuePaise: number) => {
        const kind: ApprovalKind = {
          name,
          proposers: ["settlement"],
          approvers: ["settlement"],
          validHours: 1,
          prepare: async () => ({
            summary: "brings money in",
            valuePaise,
            facts: {},
            carryOut: async () => ({ changes: [] }),
          }),
        };
        const subjectId = `${first} ${second} ${valuePaise}`;
        const people = 1 as const;
        const asked = { kind, environment, subjectId, terms: {}, people, alonePerDayPaise: crore };
        return (await actWithApproval(service.ctx, actor, asked)).outcome;
      };
      assert.equal(await act(first, crore - 2), "done");
      assert.equal(await act(second, 1), "done");
      assert.equal(await act(second, 3), "proposed", `${first}, then ${second}`);
    }
  }
});
