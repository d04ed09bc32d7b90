// Form 2 of the chain is written while a node runs that cannot read form 3, so that nodes of both versions
// can work side by side during an upgrade. The database says which form is written; it is raised once,
// when no session of an older version is left, and a new database begins with form 3.

import type { Context } from "../platform/context.ts";
import {
  hashPart,
  type Head,
  linkAfter,
  readRecord,
  recordForm,
  writeRecord,
} from "./audit-rules.ts";
import {
  type BlockDraft,
  type BlockPlace,
  type ChainedBlock,
  compress,
  numberBlock,
} from "./block-rules.ts";
import { raiseForm } from "./block-store.ts";
import { joinEvent } from "./event-rules.ts";

/** Raises the form as soon as it may be; then it sends no statement. */
export function createFormWorker({ db }: Pick<Context, "db">): () => Promise<"idle"> {
  let isRaised = false;
  return async () => {
    isRaised ||= await raiseForm(db);
    return "idle";
  };
}

/** Each record gets a hash of its own; the digests that form 3 leaves out are null. */
export function chainFormerBlock(draft: BlockDraft, place: BlockPlace): ChainedBlock {
  const { environment, desk_id, next } = place;
  const { at_text } = draft;
  let head: Head = place.head;
  let sequence = next;
  let lines = "";
  let hashes = "";
  for (const { text: blockText, event } of draft.records) {
    const text = writeRecord({ ...readRecord(blockText), at_text });
    const event_hash = event && hashPart(joinEvent(event, sequence++));
    head = linkAfter(head, { environment, desk_id, form: recordForm, text, event_hash });
    lines += `${text}\n${event ? `${event.head}${event.tail}` : ""}\n`;
    hashes += head.hash;
  }
  const numbers = numberBlock(draft, place);
  return { ...numbers, form: recordForm, packed: compress(lines), hash: null, hashes, head };
}
