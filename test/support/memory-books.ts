// The books in memory: what the service judges by is kept in maps, and everything that was written in
// a journal. How books are loaded, locked and stored is for the tests that have a database.

import assert from "node:assert/strict";

import type { Environment } from "../../src/kernel/caller.ts";
import type { PaiseSum } from "../../src/kernel/money.ts";
import {
  type Books,
  judgeEntry,
  judgeResolution,
  type Owner,
  type Pending,
} from "../../src/ledger/judge-books.ts";
import {
  type Account,
  accountName,
  availableBalance,
  type Balance,
  balanceName,
  creditName,
  entryKey,
  entryKinds,
  type EntryRefusal,
  findFault,
  type MovementRow,
  type ResolutionRefusal,
} from "../../src/ledger/rules.ts";
import type { BookChanges } from "../../src/ledger/write-books.ts";

/** Something that was written: an entry, or how a pending one ended. */
export type JournalLine = {
  readonly key: string;
  readonly kind: string;
  readonly subject: string;
  readonly ordinal: number;
  readonly phase: "pending" | "posted" | "voided";
  readonly isResolution: boolean;
  readonly movements: readonly MovementRow[];
};

export class MemoryBooks {
  readonly journal: JournalLine[] = [];
  readonly #environment: Environment;
  readonly #pending = new Map<string, Pending>();
  readonly #books: Books = {
    balances: new Map(),
    owners: new Map(),
    pending: this.#pending,
    written: new Set(),
    resolved: new Map(),
    changes: new Map(),
    moves: new Map(),
  };

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** Writes what is accepted, resolutions first; returns what was refused. */
  write({ resolutions = [], entries = [] }: BookChanges): (EntryRefusal | ResolutionRefusal)[] {
    const refusals: (EntryRefusal | ResolutionRefusal)[] = [];
    for (const resolution of resolutions) {
      const { accepted, refusal } = judgeResolution(this.#books, resolution);
      if (refusal) refusals.push(refusal);
      if (!accepted) continue;
      const movements = resolution.as === "posted" ? accepted.pending.movements : [];
      this.#note({ ...resolution, phase: resolution.as, isResolution: true, movements });
    }
    for (const entry of entries) {
      assert.equal(findFault(entry), undefined);
      for (const { from, to } of entry.movements) [from, to].map((each) => this.readBalance(each));
      const { accepted, refusal } = judgeEntry(this.#books, entry);
      if (refusal) refusals.push(refusal);
      if (!accepted) continue;
      const { movements } = accepted;
      this.#note({ ...entry, isResolution: false, movements });
      if (entry.phase === "posted") continue;
      this.#pending.set(entryKey(entry), {
        entryNo: this.journal.length,
        environment: entry.environment,
        heldAs: entryKinds[entry.kind],
        movements,
      });
    }
    return refusals;
  }

  /** As it is; whoever changes it breaks the books. */
  readBalance(account: Account): Balance {
    const name = balanceName(this.#environment, accountName(account));
    let balance = this.#books.balances.get(name);
    if (!balance) {
      balance = { posted_paise: 0, escrow_paise: 0, pending_out_paise: 0, pending_in_paise: 0 };
      this.#books.balances.set(name, balance);
    }
    return balance;
  }

  availableTo(account: Account): PaiseSum {
    return availableBalance(this.readBalance(account));
  }

  findOwner(scripNo: string): Owner | undefined {
    return this.#books.owners.get(creditName(this.#environment, scripNo));
  }

  /** By the names of their accounts. */
  balances(): ReadonlyMap<string, Readonly<Balance>> {
    return this.#books.balances;
  }

  /** Forgets how pending entries ended, as only a defect would. */
  forgetEnds(): void {
    this.#books.resolved.clear();
  }

  #note({
    kind,
    subject,
    ordinal = 0,
    phase,
    isResolution,
    movements,
  }: Omit<JournalLine, "key" | "ordinal"> & { readonly ordinal?: number }): void {
    const name = { environment: this.#environment, kind: kind as "deposit", subject, ordinal };
    this.journal.push({ ...name, key: entryKey(name), phase, isResolution, movements });
  }
}
