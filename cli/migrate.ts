import { command, printOne, withContext } from "./command.ts";

const migrate = command({
  name: "migrate",
  summary: "bring the database's schema up to date",
  options: {},
  async run(options) {
    await withContext(
      async ({ migrated, role }) => {
        printOne({ applied: migrated, role: role ?? null }, options);
      },
      { create: true },
    );
  },
});

export const commands = [migrate];
