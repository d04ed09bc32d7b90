/** Which side of a deal the caller is on. */
export const sides = ["sell", "buy"] as const;

export type Side = (typeof sides)[number];
