import { type Static, Type } from "typebox";

export const StateTables = Type.Object(
  {
    lifecycles: Type.Array(
      Type.Object({
        noun: Type.String({ description: "What has these states.", examples: ["key"] }),
        initial: Type.Array(Type.String(), {
          description: "Where it begins.",
          examples: [["active"]],
        }),
        states: Type.Array(Type.String(), { examples: [["active", "expired", "revoked"]] }),
        moves: Type.Array(
          Type.Object({
            action: Type.String({ description: "As in allowed_actions.", examples: ["revoke"] }),
            from: Type.Array(Type.String(), { examples: [["active", "expired"]] }),
            to: Type.String({ examples: ["revoked"] }),
            by: Type.String({ description: "Who makes the move.", examples: ["caller"] }),
          }),
        ),
      }),
      { description: "One table per lifecycle; the service decides by the same tables." },
    ),
  },
  { title: "StateTables", description: "Every state and every move of every resource, as data." },
);
export type StateTables = Static<typeof StateTables>;
