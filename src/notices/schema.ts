import { type Static, Type } from "typebox";

export const OptOutQuery = Type.Object({
  token: Type.String({ minLength: 1, maxLength: 500, description: "From the link of a notice." }),
});
export type OptOutQuery = Static<typeof OptOutQuery>;
