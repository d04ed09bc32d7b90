// What the service does at its times of the day, in IST. A time that passed while nobody ran is made up
// for once; what failed is tried again a quarter of an hour later, or at its next time if that is sooner.

import { istDay, istDayStart } from "../kernel/time.ts";

const scheduleNames = ["payout-files", "archives", "backups"] as const;
export type ScheduleName = (typeof scheduleNames)[number];

export const timePattern = /^([01]\d|2[0-3]):[0-5]\d$/;
export const timesMax = 24;
const retryMs = 15 * 60_000;
const dayMs = 86_400_000;

/** The next of these times of the day, after now. */
export function findNextTime(times: readonly string[], now: Date): Date {
  const today = istDayStart(istDay(now)).getTime();
  const starts = times.map((time) => {
    const [hours = 0, minutes = 0] = time.split(":").map(Number);
    return today + (hours * 60 + minutes) * 60_000;
  });
  const next = Math.min(...starts.map((at) => (at > now.getTime() ? at : at + dayMs)));
  return new Date(next);
}

export function findRetry(next: Date, now: Date): Date {
  return new Date(Math.min(next.getTime(), now.getTime() + retryMs));
}

/** Statements of a month are archived once its closing is so long ago. */
export const archivedAfterMs = 6 * 3_600_000;
/** Older backups of the same folder are removed after a new one was made and verified. */
const backupsKept = 7;
const backupForm = /^scripdesk-\d{8}T\d{6}$/;

export function nameBackup(at: string): string {
  return `scripdesk-${at.slice(0, 19).replaceAll(/[-:]/g, "")}`;
}

/** The backups that are not kept, of the names in their folder. */
export function listOutdated(names: readonly string[]): string[] {
  const made = names.filter((name) => backupForm.test(name)).toSorted();
  return made.slice(0, Math.max(0, made.length - backupsKept));
}
