export const schemes = ["RODTEP", "ROSCTL"] as const;

export type Scheme = (typeof schemes)[number];

/** Which side of a deal the caller is on. */
export const sides = ["sell", "buy"] as const;

export type Side = (typeof sides)[number];

/** What makes a deal: an order that found its other side, or a cross. */
const originKinds = ["order", "cross"] as const;

export type OriginKind = (typeof originKinds)[number];
