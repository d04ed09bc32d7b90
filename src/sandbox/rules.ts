import { istDay } from "../kernel/time.ts";

const dayMs = 86_400_000;

/** How many IST days begin after one instant and up to another. */
export function countMidnights(from: Date, to: Date): number {
  return (Date.parse(istDay(to)) - Date.parse(istDay(from))) / dayMs;
}
