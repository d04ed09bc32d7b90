// The files of `deploy/` that monitoring is set up with.

import { readFile } from "node:fs/promises";
import { join } from "node:path";

export const deployFolder = join(import.meta.dirname, "../../deploy");

export type Dashboard = {
  readonly panels: readonly {
    readonly id: number;
    readonly type: string;
    readonly title: string;
    readonly description?: string;
    readonly gridPos: {
      readonly x: number;
      readonly y: number;
      readonly w: number;
      readonly h: number;
    };
    readonly targets?: readonly { readonly expr: string }[];
  }[];
};

export async function readDashboard(): Promise<Dashboard> {
  return JSON.parse(await readFile(join(deployFolder, "dashboard.json"), "utf8")) as Dashboard;
}

/** Of the panels of the dashboard. */
export async function listPanelExpressions(): Promise<string[]> {
  const { panels } = await readDashboard();
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
}

/** Of all rules and panels. */
export async function listExpressions(): Promise<string[]> {
  const rules = await readFile(join(deployFolder, "alerts.yml"), "utf8");
  const ofRules = [...rules.matchAll(/^ +expr: (.+)$/gm)].map(([, expression = ""]) => expression);
  return [...ofRules, ...(await listPanelExpressions())];
}
