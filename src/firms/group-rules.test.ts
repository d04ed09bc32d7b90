import assert from "node:assert/strict";
import { test } from "node:test";

import { Failure } from "../kernel/failure.ts";
import {
  bucketStarts,
  expiryBuckets,
  listGroupActions,
  membersMax,
  mustJoin,
  sumPositions,
  refuseMembers,
} from "./group-rules.ts";

function findReason(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    if (error instanceof Failure) return `${error.code}: ${String(error.detail?.["reason"])}`;
    throw error;
  }
}

test("the allowed actions of a group depend on its number of members", () => {
  const rows = [
    [0, ["update", "add_member", "delete"]],
    [1, ["update", "add_member", "remove_member"]],
    [membersMax - 1, ["update", "add_member", "remove_member"]],
    [membersMax, ["update", "remove_member"]],
  ] as const;
  for (const [member_count, actions] of rows) {
    assert.deepEqual(listGroupActions({ member_count }), actions);
    assert.equal(
      findReason(() => refuseMembers({ member_count })) === undefined,
      actions.some((action) => action === "delete"),
    );
  }
});

test("a join checks in order: already a member, in another group, group full", () => {
  const full = { group_id: "grp_a", member_count: membersMax };
  const rows = [
    [full, "grp_a", false],
    [full, "grp_b", "conflict: in_another_group"],
    [full, null, "conflict: group_full"],
    [{ ...full, member_count: membersMax - 1 }, null, true],
  ] as const;
  for (const [group, current, verdict] of rows) {
    assert.equal(
      findReason(() => mustJoin(group, current)),
      verdict,
    );
  }
});

test("buckets leave no day out and count none twice", () => {
  assert.deepEqual(bucketStarts, [31, 61, 91, 181, 366]);
  assert.equal(expiryBuckets.at(-1)?.days_max, null);
});

test("the position of an empty group has every line, at zero", () => {
  const { schemes, any_scheme, members } = sumPositions([]);
  assert.deepEqual(members, []);
  assert.deepEqual(any_scheme, { requirement_count: 0, requirement_paise: 0 });
  for (const line of schemes) {
    assert.equal(line.buckets.length, 6);
    assert.deepEqual([line.face_paise, line.requirement_paise, line.net_paise], [0, 0, 0]);
  }
});

test("sums beyond 2^53 are exact, for one member and for all", () => {
  const most = String(Number.MAX_SAFE_INTEGER);
  const held = [
    { scheme: "ROSCTL", bucket: 5, count: 1, face_paise: most, available_paise: "0" },
  ] as const;
  const owed = [{ scheme: "ROSCTL", count: 1, amount_paise: "1" }] as const;
  const one = { firm_id: "frm_a", legal_name: "A", held, owed };
  const { schemes } = sumPositions([one, one, one]);
  const [line] = schemes.filter(({ scheme }) => scheme === "ROSCTL");
  assert.equal(line?.face_paise, 27_021_597_764_222_973n);
  assert.equal(line?.net_paise, 27_021_597_764_222_970n);
  assert.equal(line?.available_paise, 0);
});
