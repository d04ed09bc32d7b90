import { askOutside, type Question } from "../inquiries/ask-outside.ts";
import { accountChecks, identityChecks } from "../inquiries/rules.ts";
import type { Tx } from "../platform/postgres.ts";
import { type FirmCheck, pendingChecks } from "./rules.ts";
import type { FirmRow } from "./store.ts";

/** Asks the registry who the firm is and, where it has an account, the bank whose that is. */
export async function askAboutFirm(tx: Tx, firm: FirmRow, now: Date): Promise<FirmCheck[]> {
  const account = accountQuestion(firm);
  await askOutside(tx, [identityQuestion(firm), ...(account ? [account] : [])], now);
  return pendingChecks([...identityChecks(firm), ...(account ? accountChecks : [])]);
}

/** Asks the bank alone; nothing is asked about a firm without an account. */
export async function askAboutAccount(tx: Tx, firm: FirmRow, now: Date): Promise<FirmCheck[]> {
  const account = accountQuestion(firm);
  if (!account) return [];
  await askOutside(tx, [account], now);
  return pendingChecks(accountChecks);
}

function identityQuestion(firm: FirmRow): Question<"firm_identity"> {
  if (firm.iec === null || firm.pan === null) throw new Error("a firm is asked about by its IEC");
  return {
    environment: firm.environment,
    deskId: firm.desk_id,
    port: "registry",
    kind: "firm_identity",
    subjectId: firm.firm_id,
    facts: { iec: firm.iec, pan: firm.pan, gstin: firm.gstin },
  };
}

/** The bank is asked by the last digits: the whole number is not for a list of questions. */
function accountQuestion(firm: FirmRow): Question<"bank_account"> | undefined {
  if (firm.bank_last4 === null || firm.bank_ifsc === null || firm.bank_name === null) {
    return undefined;
  }
  return {
    environment: firm.environment,
    deskId: firm.desk_id,
    port: "bank",
    kind: "bank_account",
    subjectId: firm.firm_id,
    facts: {
      legal_name: firm.legal_name,
      account_name: firm.bank_name,
      last4: firm.bank_last4,
      ifsc: firm.bank_ifsc,
    },
  };
}
