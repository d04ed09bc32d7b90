import { istDay } from "../kernel/time.ts";

const dayMs = 86_400_000;

/** The number of IST midnights after one instant, up to another. */
export function countMidnights(from: Date, to: Date): number {
  return (Date.parse(istDay(to)) - Date.parse(istDay(from))) / dayMs;
}
