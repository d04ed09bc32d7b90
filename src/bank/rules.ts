// The simulated bank: an account bears the firm's name when the name given with it is the firm's,
// letter case and spacing aside.

import type { Inquiries } from "../inquiries/rules.ts";

type Account = Inquiries["bank_account"];

export function simulatedAccount({
  legal_name,
  account_name,
}: Account["facts"]): Account["answer"] {
  if (plain(legal_name) === plain(account_name)) {
    return { checks: [{ check: "BANK_NAME_MATCH", outcome: "pass", cure: null }] };
  }
  const cure = "give an account in the firm's own name";
  return { checks: [{ check: "BANK_NAME_MATCH", outcome: "fail", cure }] };
}

function plain(name: string): string {
  return name.toUpperCase().replace(/[^A-Z0-9]+/g, "");
}
