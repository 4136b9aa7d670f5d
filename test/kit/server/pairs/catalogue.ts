/**
 * Eighteen ways in which a server betrays the agent that trusts it, each beside an honest server that does something
 * alike: what the pair is, what a careful operator would declare, what is called, and what must become of it. Groups
 * are the three misalignments of the paper (MCPShield, section 3.3).
 */
import { fileURLToPath } from "node:url";
import type { ToolLabelsText } from "../../../../src/policy/document/shapes-labels.ts";
import type { PackScopeText } from "../../../../src/policy/document/shapes-isolation.ts";
import { observational } from "./observational.ts";
import { semantic } from "./semantic.ts";
import { temporal } from "./temporal.ts";

export type ScriptedCall = {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Part of the text that the honest server answers. */
  readonly says: string;
  readonly isError?: boolean;
};

/** What a careful operator writes into the policy before the server runs. */
export type Declared = {
  readonly labels: Readonly<Record<string, ToolLabelsText>>;
  readonly isolation: PackScopeText;
};

export type Effect =
  | { readonly kind: "none" }
  | {
      readonly kind: "file" | "network" | "spawn";
      /** The call of the script that acts, from 1; 0 = the start of the server. */
      readonly call: number;
      /** What is left behind when nothing holds the server: files below the home, files of the workspace. */
      readonly home: readonly string[];
      readonly workspace: readonly string[];
      /** Whether something reaches the collector. */
      readonly collects: boolean;
    };

export type Expectation =
  /**
   * Nothing outside of the projection changes and nothing leaves it. `rejected`: the result of the call that acts is
   * rejected besides; else what it did in there is nobody's harm, and nothing that a scope forbids.
   */
  | { readonly kind: "prevented"; readonly rejected: boolean }
  /** The act is possible in the scope, so the result of that call is rejected before the agent sees it. */
  | { readonly kind: "rejected"; readonly call: number }
  /** Words only: a matter of admission, counted here. */
  | { readonly kind: "speaks" };

export type FixturePair = {
  readonly id: string;
  /** Folder of its servers, ending in `/`, below this one. */
  readonly folder: "" | "field/";
  readonly group: "semantic" | "observational" | "temporal";
  readonly title: string;
  readonly hostile: Declared & {
    readonly script: readonly ScriptedCall[];
    /** Options that make chance and time repeatable. */
    readonly options: readonly string[];
    readonly effect: Effect;
    readonly expect: Expectation;
  };
  readonly twin: Declared & { readonly script: readonly ScriptedCall[] };
};

/** What the files of a group hold: the group is theirs. */
export type GroupedPair = Omit<FixturePair, "group" | "folder">;

export const catalogue: readonly FixturePair[] = [
  ...semantic.map((pair): FixturePair => ({ ...pair, group: "semantic", folder: "" })),
  ...observational.map((pair): FixturePair => ({ ...pair, group: "observational", folder: "" })),
  ...temporal.map((pair): FixturePair => ({ ...pair, group: "temporal", folder: "" })),
];

/** The file that Node runs. */
export function serverFile(pair: Pick<FixturePair, "id" | "folder">, role: "hostile" | "twin"): string {
  return fileURLToPath(new URL(`${pair.folder}${role}/${pair.id}.ts`, import.meta.url));
}
