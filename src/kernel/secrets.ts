// Masks text that looks like a secret in errors and logs, whose readers may not own the key.

/** API keys of either environment, ours or another service's, webhook secrets and session tokens. */
const secretForm =
  /\b(?:((?:[A-Za-z]+_(?:live|test)|whsec)_)[A-Za-z0-9+/=_-]{8,}|(operator_)[A-Za-z0-9_-]{40,})/gi;

export function maskSecrets(text: string): string {
  return text.replace(secretForm, "$1$2…");
}

/** Masks every string within a value, including member names. */
export function maskWithin(value: unknown): unknown {
  if (typeof value === "string") return maskSecrets(value);
  if (Array.isArray(value)) return value.map(maskWithin);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [maskSecrets(name), maskWithin(member)]),
  );
}
