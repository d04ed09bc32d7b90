import { open } from "../platform/seal.ts";

/** A sealed secret opens for its own subscription only. */
export function sealPurpose(webhookId: string): string {
  return `webhook:${webhookId}`;
}

export type SealedSecrets = {
  readonly webhook_id: string;
  readonly secret_sealed: Buffer;
  readonly previous_secret_sealed: Buffer | null;
  readonly previous_secret_until: Date | null;
};

/** What to sign with now: the secret in force, then the previous one while its grace lasts. */
export function openSecrets(row: SealedSecrets, sealKey: Buffer, now: Date): string[] {
  const purpose = sealPurpose(row.webhook_id);
  const current = open(row.secret_sealed, purpose, sealKey);
  const inGrace = row.previous_secret_until !== null && row.previous_secret_until > now;
  if (!inGrace || row.previous_secret_sealed === null) return [current];
  return [current, open(row.previous_secret_sealed, purpose, sealKey)];
}
