// What looks like a secret is not repeated: whoever reads an error or a log may not be whose key it is.

/** A key of a service of either environment, ours or another's, the secret of a webhook, a session. */
const secretForm =
  /\b(?:((?:[A-Za-z]+_(?:live|test)|whsec)_)[A-Za-z0-9+/=_-]{8,}|(operator_)[A-Za-z0-9_-]{40,})/gi;

export function maskSecrets(text: string): string {
  return text.replace(secretForm, "$1$2…");
}

/** The same for every text within a value, names of its members included. */
export function maskWithin(value: unknown): unknown {
  if (typeof value === "string") return maskSecrets(value);
  if (Array.isArray(value)) return value.map(maskWithin);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [maskSecrets(name), maskWithin(member)]),
  );
}
