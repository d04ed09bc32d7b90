export const schemes = ["RODTEP", "ROSCTL"] as const;

export type Scheme = (typeof schemes)[number];
