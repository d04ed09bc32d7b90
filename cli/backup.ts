import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

import { readConfig } from "../src/config.ts";
import { verifyChain } from "../src/journal/verify-chain.ts";
import { istTimestamp, parseInstant } from "../src/kernel/time.ts";
import { checkLedger, recordVerdict } from "../src/ledger/check-ledger.ts";
import { Unusable } from "../src/platform/http/errors.ts";
import { noteBackup } from "../src/platform/last-backup.ts";
import { backUpCluster, type Progress } from "../src/platform/postgres/backup-cluster.ts";
import { openEmbedded } from "../src/platform/postgres/embedded.ts";
import { restoreCluster } from "../src/platform/postgres/restore-cluster.ts";
import { command, printOne, UsageError, withContext } from "./command.ts";

const keyName = "master.key";
const lineEveryMs = 1_000;

const backup = command({
  name: "backup",
  summary: "back up the embedded database while it runs, verified, into a new folder",
  operand: "FOLDER",
  options: {
    "with-key": {
      type: "boolean",
      help: "put the master key into it too; keep it apart otherwise",
    },
  },
  example: "npx scripdesk backup /var/backups/scripdesk-2026-11-15",
  async run(options, folder) {
    const { dataDir } = readEmbeddedConfig();
    const key = options["with-key"] ? await readFile(join(dataDir, keyName)) : undefined;
    const embedded = await openEmbedded({ dataDir, as: "visitor", create: false });
    const now = new Date();
    try {
      const manifest = await backUpCluster({
        connection: embedded.connection,
        clusterDir: join(dataDir, "postgres"),
        to: resolve(folder),
        extra: key ? [{ name: keyName, content: key }] : [],
        now,
        onProgress: tellProgress(),
      });
      const { files, from_lsn, to_lsn } = manifest;
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
      const facts = { files: files.length, bytes, from_lsn, to_lsn, verified: true };
      printOne(
        { folder, made_at: istTimestamp(now), ...facts, has_key: key !== undefined },
        options,
      );
      if (!key && !options.json) {
        process.stderr.write(
          `scripdesk: the master key is not in it: keep ${join(dataDir, keyName)} apart, restoring needs it\n`,
        );
      }
    } finally {
      await embedded.leave();
    }
    await noteBackup(dataDir, now, new Date());
  },
});

const note = command({
  name: "backups note",
  summary: "say that another program has backed the database up, for metrics and alerts",
  options: { at: { help: "when, ISO 8601 with an offset; now where it is left out" } },
  example: "npx scripdesk backups note --at 2026-11-15T02:00:00+05:30",
  async run(options) {
    const now = new Date();
    const at = options.at === undefined ? now : parseInstant(options.at);
    if (!at) throw new UsageError("--at must be ISO 8601 with an offset");
    await noteBackup(readConfig(process.env).dataDir, at, now);
    printOne({ made_at: istTimestamp(at) }, options);
  },
});

const restore = command({
  name: "restore",
  summary: "restore a backup into an empty DATA_DIR, and prove the books and the audit trail",
  operand: "FOLDER",
  options: {
    key: { help: "file with the master key; not needed with MASTER_KEY or a backup --with-key" },
  },
  example:
    "DATA_DIR=/var/lib/scripdesk-restored npx scripdesk restore /var/backups/… --key master.key",
  async run(options, folder) {
    const { dataDir, masterKey } = readEmbeddedConfig();
    const from = resolve(folder);
    const key = masterKey ? undefined : await findKey(dataDir, from, options.key);
    await restoreCluster({ from, dataDir, onProgress: tellProgress() });
    if (key) await writeFile(join(dataDir, keyName), key, { mode: 0o600, flush: true });
    const { books, trail } = await withContext(async ({ ctx }) => {
      const verdict = await checkLedger(ctx);
      await recordVerdict(ctx.db, verdict);
      return { books: verdict, trail: await verifyChain(ctx) };
    });
    printOne(
      {
        data_dir: dataDir,
        ledger_sound: books.sound,
        ledger_entries: books.entries,
        ledger_break: books.firstBreak,
        audit_whole: trail.whole,
        audit_records: trail.records,
        audit_break: trail.first_break,
      },
      options,
    );
    return books.sound && trail.whole ? 0 : 1;
  },
});

function readEmbeddedConfig() {
  const config = readConfig(process.env);
  if (config.databaseUrl === undefined) return config;
  throw new Unusable(
    "DATABASE_URL is set: an external PostgreSQL is backed up by its own tools, such as pg_basebackup",
  );
}

/** What was given, else what is in the folder already, else what is in the backup. */
async function findKey(dataDir: string, from: string, given: string | undefined): Promise<Buffer> {
  const places = given === undefined ? [join(dataDir, keyName), join(from, keyName)] : [given];
  for (const place of places) {
    const key = await readFile(place).catch(() => undefined);
    if (key) return key;
  }
  throw new Unusable(
    `the master key is not in ${places.join(" nor in ")}: give --key FILE or MASTER_KEY, or nothing that is sealed can be opened`,
  );
}

function tellProgress(): (progress: Progress) => void {
  let lastAt = performance.now();
  return ({ phase, done, of }) => {
    const now = performance.now();
    if (done < of && now - lastAt < lineEveryMs) return;
    lastAt = now;
    const unit = phase === "copy" ? " bytes" : " files";
    process.stderr.write(`${phase}: ${done} of ${of}${unit}\n`);
  };
}

export const commands = [backup, note, restore];
