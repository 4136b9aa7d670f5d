/**
 * Acts of tools, in the words of an analysis, and the ways in which each kind of act can be unsafe. Only sensible pairs
 * of act and form are here: a question about every pair would be filler, and users do not read filler.
 */
import { type ToolContract, isControl } from "../../core/contract.ts";
import { type Effect, everyEffect } from "../../core/effect.ts";
import type { Lattice } from "../../core/label.ts";
import type { UcaForm } from "./document.ts";

export type DraftHazard = "disclosure" | "steered" | "gone" | "money" | "lasting" | "unknown";

/** Something without which a question makes no sense in this set of tools. */
export type Condition = "always" | "private" | "untrusted" | "deletes" | "opens";

export type Question = {
  /** Last part of the id, so that ids stay when other tools come and go. */
  readonly code: string;
  readonly form: UcaForm;
  readonly hazard: DraftHazard;
  readonly when: Condition;
  /** `{private}`, `{untrusted}` and `{backup}` are replaced by names of tools, `{stores}` by names of stores. */
  readonly context: string;
};

export type Act = { readonly id: string; readonly does: string; readonly questions: readonly Question[] };

type Kind = readonly [form: UcaForm, hazard: DraftHazard, when: Condition];
const ask = (code: string, [form, hazard, when]: Kind, context: string): Question => ({
  code,
  form,
  hazard,
  when,
  context,
});

const leaks = ask(
  "private-data",
  ["provided", "disclosure", "private"],
  "when an argument holds data above the lowest level, such as comes from {private}",
);
const steered = (what: string): Question =>
  ask(
    "chosen-by-others",
    ["provided", "steered", "untrusted"],
    `when ${what} was chosen by text that others wrote, such as comes from {untrusted}`,
  );
const again = (what: string, hazard: DraftHazard): Question =>
  ask(
    "repeated",
    ["stopped-too-soon-or-applied-too-long", hazard, "always"],
    `when ${what} was already done once, for instance repeated after a time-out`,
  );
const stays = (what: string): Question =>
  ask(
    "left-in-force",
    ["stopped-too-soon-or-applied-too-long", "lasting", "always"],
    `when ${what} stays in force after the task for which it was asked`,
  );
const opened = ask(
  "after-private-data",
  ["wrong-time-or-order", "disclosure", "opens"],
  "when private data was written to {stores} before, or is written there afterwards",
);

/** In the order in which a draft lists them. */
export const acts: readonly Act[] = [
  {
    id: "send",
    does: "sends to others",
    questions: [leaks, steered("the recipient"), again("the same message", "lasting")],
  },
  { id: "publish", does: "publishes", questions: [leaks, steered("the place"), again("the same text", "lasting")] },
  { id: "write-outside", does: "writes outside this machine", questions: [leaks, steered("the place")] },
  { id: "fetch", does: "reads from a place that the agent chooses", questions: [leaks, steered("the address")] },
  {
    id: "delete",
    does: "deletes, or cannot be undone",
    questions: [
      steered("what is deleted"),
      ask(
        "before-backup",
        ["wrong-time-or-order", "gone", "always"],
        "when {backup} has not succeeded before for the same thing",
      ),
    ],
  },
  {
    id: "pay",
    does: "moves money",
    questions: [
      steered("the recipient or the amount"),
      ask(
        "unchecked",
        ["wrong-time-or-order", "money", "always"],
        "when amount and recipient were not read before from where they belong",
      ),
      again("the same payment", "money"),
    ],
  },
  { id: "grant", does: "grants access", questions: [steered("who gets access"), opened, stays("the access")] },
  { id: "share", does: "shares", questions: [leaks, steered("the one it is shared with"), opened, stays("the share")] },
  { id: "webhook", does: "sets up a webhook", questions: [steered("its address"), opened, stays("the webhook")] },
  { id: "schedule", does: "schedules", questions: [leaks, steered("what is scheduled"), stays("the schedule")] },
  { id: "credential", does: "makes or changes credentials", questions: [steered("for whom"), stays("the credential")] },
  { id: "config", does: "changes a configuration", questions: [steered("the setting"), stays("the setting")] },
  {
    id: "actuate",
    does: "moves something in the world",
    questions: [steered("what is moved"), again("the same", "gone")],
  },
  { id: "execute", does: "runs code", questions: [leaks, steered("the command")] },
  {
    id: "backup",
    does: "makes a copy",
    questions: [
      ask(
        "missing",
        ["not-provided", "gone", "deletes"],
        "before something of the same server is deleted or overwritten for good",
      ),
    ],
  },
  {
    id: "unlabelled",
    does: "does what nobody has said",
    questions: [
      ask("unknown", ["provided", "unknown", "always"], "while nobody has said what it does and what it returns"),
    ],
  },
];

/** A name does not prove the acts of a tool, but is enough to ask whether it should have been called. */
const backupName = /(^|[^a-z])(backup|back_up|snapshot|export|archive|dump|checkpoint)([^a-z]|$)/i;

export type DraftTool = {
  readonly contract: ToolContract;
  /** Effects that name and schema suggest: too little to permit anything, and enough for a question. */
  readonly suggested: readonly Effect[];
};

/** The tool has no label, so its contract allows every effect and gives no information. */
export function isUnlabelled({ contract }: DraftTool): boolean {
  return contract.source === "unknown" && contract.effects.may.length >= everyEffect.length;
}

/** Acts of one tool, in no order. */
export function actsOf(given: DraftTool): ReadonlySet<string> {
  const { contract, suggested } = given;
  const { effects, flags, tool } = contract;
  const unlabelled = isUnlabelled(given);
  const certain = [...effects.may, ...contract.cases.flatMap((each) => each.effects?.may ?? [])];
  const may = unlabelled ? (suggested.length >= everyEffect.length ? [] : suggested) : certain;
  const found = new Set(may.flatMap((effect) => actOf(effect, contract)));
  if (unlabelled) found.add("unlabelled");
  if (backupName.test(tool) && !found.has("delete")) found.add("backup");
  // An irreversible act without a worse effect needs the same care as a deletion.
  if (flags.irreversible && found.size === 0) found.add("delete");
  return found;
}

function actOf(effect: string, contract: ToolContract): readonly string[] {
  const [base, reach, action] = effect.split(".");
  if (base === "execute") return ["execute"];
  if (base === "read") {
    const chosen = [...contract.arguments.values()].some(({ role, sink }) => sink && role === "destination");
    return chosen ? ["fetch"] : [];
  }
  if (action !== undefined) return [action];
  return reach === "local" ? [] : ["write-outside"];
}

/** Whether the results of a tool can be private, and whether others may have written them. */
export function sourceOf(
  contract: ToolContract,
  lattice: Lattice,
): { readonly private: boolean; readonly untrusted: boolean } {
  const outputs = [contract.output, ...contract.cases.flatMap(({ output }) => output ?? [])];
  const tops = outputs.flatMap(({ label, fields }) => [label.hi, ...fields.map((field) => field.label.hi)]);
  const bits = tops.reduce<number>((all, label) => all | label, 0);
  return {
    private: (bits & (lattice.levelMask | lattice.categoryMask)) !== 0,
    untrusted: (bits & lattice.untrustedBit) !== 0,
  };
}

/** Some argument steers the call, so the author of that argument decides. */
export function isSteerable(contract: ToolContract): boolean {
  return [...contract.arguments.values(), contract.rest].some(({ role }) => isControl(role));
}
