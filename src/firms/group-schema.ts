import { type Static, Type } from "typebox";

import { schemes } from "../kernel/scheme.ts";
import { body, maybeCount, openEnum, paiseSum, timestamp } from "../platform/http/wire.ts";
import { expiryBuckets, membersMax } from "./group-rules.ts";

const groupId = Type.String({
  description: "The group's id.",
  examples: ["grp_01jd2m7q4x8r5v6w9y0abcdefg"],
});
const firmId = Type.String({
  description: "A firm of your desk.",
  examples: ["frm_01jd2m7q4x8r5v6w9y0abcdefg"],
});
const newName = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: "\\S",
  description: "What the group is called; one group of that name on a desk.",
  examples: ["Sahyadri Group"],
});

export const CreateGroupBody = body({ name: newName });
export type CreateGroupBody = Static<typeof CreateGroupBody>;

export const UpdateGroupBody = body({ name: newName });
export type UpdateGroupBody = Static<typeof UpdateGroupBody>;

export const GroupParams = Type.Object({ group_id: groupId });
export const MemberParams = Type.Object({ group_id: groupId, firm_id: firmId });

export const Group = Type.Object(
  {
    group_id: groupId,
    name: Type.String({ description: "What the group is called.", examples: ["Sahyadri Group"] }),
    member_count: Type.Integer({ description: `At most ${membersMax}.`, examples: [3] }),
    created_at: timestamp("When it was created."),
    updated_at: timestamp("When it or its membership last changed."),
    version: Type.Integer({
      description: "Raised by every change, membership included.",
      examples: [1],
    }),
    allowed_actions: Type.Array(Type.String(), {
      description: "What can be done with it now.",
      examples: [["update", "add_member", "delete"]],
    }),
  },
  { title: "Group", description: "Firms of your desk under common ownership." },
);
export type Group = Static<typeof Group>;

export const Member = Type.Object(
  {
    firm_id: firmId,
    legal_name: Type.String({
      description: "The firm's legal name.",
      examples: ["Sahyadri Exports Private Limited"],
    }),
    connection_state: Type.String({
      description: "How far the firm's connection has come.",
      examples: ["authorized"],
    }),
  },
  { title: "GroupMember", description: "A firm that is in the group." },
);
export type Member = Static<typeof Member>;

const creditSums = {
  credit_count: Type.Integer({ description: "How many credits are held.", examples: [2] }),
  face_paise: paiseSum("Face of the credits that are listed, reserved or in settlement."),
  available_paise: paiseSum("The part of it that is listed, and so free to be moved or sold."),
};
const requirementSums = {
  requirement_count: Type.Integer({ description: "How many are still to come.", examples: [1] }),
  requirement_paise: paiseSum("Declared basic customs duty that is due today or later."),
};

const position = {
  schemes: Type.Array(
    Type.Object({
      scheme: openEnum(schemes, "Always one line for each scheme."),
      ...creditSums,
      ...requirementSums,
      net_paise: paiseSum("Face less requirements; below zero, duty is uncovered.", -1_000_000),
      buckets: Type.Array(
        Type.Object({
          bucket: openEnum(
            expiryBuckets.map(({ bucket }) => bucket),
            "Days until the credits lapse.",
          ),
          days_max: maybeCount("The bucket's last day; null for the one without end."),
          ...creditSums,
        }),
        { description: "Always every bucket, soonest first." },
      ),
    }),
    { description: "Credits and requirements of each scheme." },
  ),
  any_scheme: Type.Object(requirementSums, {
    description: "Requirements that name no scheme: credits of either can cover them.",
  }),
};

export const GroupPositions = Type.Object(
  {
    group_id: groupId,
    as_of: timestamp("The one moment that every figure is of."),
    ...position,
    members: Type.Array(
      Type.Object({
        firm_id: firmId,
        legal_name: Type.String({ description: "The firm's legal name." }),
        ...position,
      }),
      {
        description: "The same per member; the members add up to the group.",
      },
    ),
  },
  {
    title: "GroupPositions",
    description: "What the group's firms hold against the basic customs duty they will owe.",
  },
);
export type GroupPositions = Static<typeof GroupPositions>;
