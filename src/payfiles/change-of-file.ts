import type { Change } from "../kernel/actor.ts";
import { houseFirmId } from "../kernel/house.ts";
import type { FileRow } from "./store.ts";

/** What happens to a file is the house's own business, and on its desk's record. */
export function changeOfFile(
  action: "make" | "read" | "answer" | "void",
  before: FileRow | null,
  after: FileRow,
): Change {
  const house = houseFirmId[after.environment];
  return {
    environment: after.environment,
    deskId: house,
    firmId: house,
    action: `payout_file.${action}`,
    entity: {
      type: "payout_file",
      id: after.file_id,
      version: after.version,
      href: `/ops/payout-files/${after.file_id}`,
    },
    before: before && factsOf(before),
    after: factsOf(after),
  };
}

function factsOf(row: FileRow) {
  const { file_id, rail, state, line_count, paise, void_reason } = row;
  return { file_id, rail, state, line_count, paise, void_reason };
}
