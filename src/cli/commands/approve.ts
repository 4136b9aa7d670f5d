/**
 * `sluicegate approve [ID...]`: shows what waits for consent by server and tool, and gives it: to single calls, to all of
 * a tool, or for always by a rule in the user's policy. `--watch` is in `approve-watch.ts`.
 */
import type { Command } from "commander";
import type { ApprovalView, Reply, Request } from "../../app/gateway/control-contract.ts";
import { askDaemon, outcomeOf } from "../control-client.ts";
import { type Outcome, failure } from "../../app/state/outcome.ts";
import { userPolicies } from "../../app/policy/policy-source.ts";
import { addRule, removeRule, userPolicyFile } from "../../app/policy/user-rules.ts";
import { alwaysPrefix } from "../../gateway/consent/always-rule.ts";
import { agreed } from "../agreed.ts";
import { type Proving, askProven, codeOption, ticketsFor } from "../proven.ts";
import { type OptionsOf, acts } from "../output.ts";
import { many, shortPath, shellWord, shown } from "../../app/state/sentences.ts";
import { watch } from "./approve-watch.ts";
import { type Json, stringMember } from "../../core/json.ts";

const approveOptions = {
  "--value": "endorse the value in question for the rest of the run, instead of this call alone",
  "--refuse": "refuse instead",
  "--all <tool>": "every call that waits of SERVER or SERVER.TOOL, after they were shown",
  "--always": "also write a rule into your policy that lets this very call pass from now on; it is shown first",
  "--undo <rule>": "take a rule of `--always` out of your policies again",
  ...codeOption,
  "--yes": "do not ask before `--all` or `--always`",
  "--watch": "show calls as they come, and answer them while the client waits",
} as const;
type Options = OptionsOf<typeof approveOptions> & { readonly json?: true };

export function register(program: Command): void {
  const command = program.command("approve [ids...]").description("show what waits for consent, or consent to calls");
  acts(command, approveOptions, (options, ids: readonly string[]) => approve(ids, options));
}

async function approve(ids: readonly string[], options: Options): Promise<Outcome> {
  const fault = usageFault(ids, options);
  if (fault !== undefined) return failure("SG-USAGE", fault);
  if (options.watch === true) return watch(options.json === true);
  if (options.undo !== undefined) return undo(options.undo);
  const [id] = ids;
  const proving = { code: options.code };
  if (options.always === true && id !== undefined) return always(id, options.yes === true, proving);
  const choice = options.refuse === true ? "refuse" : options.value === true ? "value" : "once";
  if (options.all !== undefined) return ofTool(options.all, { choice, yes: options.yes === true, proving });
  if (id === undefined) return pending();
  if (ids.length > 1) return several(ids, choice, proving);
  return outcomeOf(await askProven({ kind: "approve", id, choice }, proving), () => doneText(choice));
}

/** Why these words and options do not go together, as a sentence; undefined where they do. */
function usageFault(
  ids: readonly string[],
  { value, refuse, all, always: forAlways, undo: back, watch: wait }: Options,
) {
  const chosen = [
    value === true ? "--value" : "",
    refuse === true ? "--refuse" : "",
    forAlways === true ? "--always" : "",
  ];
  const [first, second] = chosen.filter((word) => word !== "");
  if (second !== undefined) return `\`${first}\` and \`${second}\` exclude each other: give one of them.`;
  if (wait === true && ids.length > 0) return "`--watch` takes no id: answer with y, v or n when a call comes.";
  if (back !== undefined && (ids.length > 0 || first !== undefined))
    return "`--undo` takes the id of a rule and nothing else.";
  if (all !== undefined && ids.length > 0) return "`--all` takes no ids: it means every call of the tool that waits.";
  if (forAlways === true && ids.length !== 1)
    return "`--always` needs the id of one call: `sluicegate approve` lists them.";
  if (first !== undefined && ids.length === 0 && all === undefined)
    return `\`${first}\` needs the id of a call: \`sluicegate approve\` lists them.`;
  return undefined;
}

type Choice = Request<"approve">["choice"];

function doneText(choice: Choice): string {
  return choice === "refuse" ? "Refused." : "Approved: repeat the same call within its time.";
}

/** Rules several approvals one by one: each has its own answer, and one that is gone does not stop the others. */
async function several(ids: readonly string[], choice: Choice, proving: Proving): Promise<Outcome> {
  const acts = ids.map((id) => ({ kind: "approve", id, choice }) as const);
  const tickets = await ticketsFor(acts, proving);
  if (!tickets.ok) return failure(tickets.error.code, tickets.error.sentence);
  const results: { readonly id: string; readonly choice?: Choice; readonly refused?: string }[] = [];
  for (const act of acts) {
    const { id } = act;
    const answer = await askDaemon({ ...act, ...tickets.value });
    if (!answer.ok && answer.error.absent) return failure(answer.error.code, answer.error.sentence);
    results.push(answer.ok ? { id, choice } : { id, refused: answer.error.sentence });
  }
  const failed = results.some(({ refused }) => refused !== undefined);
  const text = results.map(({ id, refused }) => `${shown(id)}  ${refused ?? doneText(choice)}`).join("\n");
  return { exitCode: failed ? 1 : 0, json: { results }, text };
}

/** Every pending call of a server or of one tool, as they were when they were shown: a later one is not among them. */
async function ofTool(
  name: string,
  { choice, yes, proving }: { readonly choice: Choice; readonly yes: boolean; readonly proving: Proving },
): Promise<Outcome> {
  const answer = await askDaemon({ kind: "approvals" });
  if (!answer.ok) return outcomeOf(answer, () => "");
  const meant = answer.value.reply.approvals.filter(
    (one) => one.status === "pending" && (one.server === name || `${one.server}.${one.tool}` === name),
  );
  if (meant.length === 0)
    return failure("SG-USAGE", `No call of \`${shown(name, 80)}\` waits: \`sluicegate approve\` lists them.`);
  if (!yes && choice !== "refuse") {
    if (!process.stdin.isTTY)
      return failure("SG-USAGE", "`--all` asks on a terminal, and this is not one: run it in one, or add `--yes`.");
    const question = `Approve ${many(meant.length, "call")}?`;
    if (!(await agreed(groupedText(meant), question)))
      return { exitCode: 1, json: { results: [] }, text: "Nothing was approved." };
  }
  return several(
    meant.map(({ id }) => id),
    choice,
    proving,
  );
}

/** Approves one call, and writes the rule for it; the consent comes first, since a rule consents to all later calls. */
async function always(id: string, yes: boolean, proving: Proving): Promise<Outcome> {
  const answer = await askDaemon({ kind: "approvals" });
  if (!answer.ok) return outcomeOf(answer, () => "");
  const card = answer.value.reply.approvals.find((one) => one.id === id && one.status === "pending");
  if (card === undefined)
    return failure("SG-USAGE", `No call \`${shown(id, 40)}\` waits: \`sluicegate approve\` lists them.`);
  const written = card.always?.rule;
  if (written === undefined)
    return failure("SG-ALWAYS", card.always?.why ?? "This card offers no rule: approve the call once.");
  const file = userPolicyFile(card.policy, process.env);
  const text = [groupedText([card]), `The rule for ${shortPath(file)}:`, `  ${shown(written, 2_100)}`].join("\n");
  if (!yes) {
    if (!process.stdin.isTTY)
      return failure("SG-USAGE", "`--always` asks on a terminal, and this is not one: run it in one, or add `--yes`.");
    if (!(await agreed(text, "Approve it, and write this rule?")))
      return { exitCode: 1, json: { rule: null }, text: "Nothing was approved or written." };
  }
  const ruled = await askProven({ kind: "approve", id, choice: "once" }, proving);
  if (!ruled.ok) return outcomeOf(ruled, () => "");
  const added = addRule(file, written);
  if (!added.ok) return failure("SG-ALWAYS", `The call is approved once. ${added.error}`);
  const back = `\`sluicegate approve --undo ${ruleId(written)}\` takes it back.`;
  return {
    exitCode: 0,
    json: { id, choice: "once", rule: JSON.parse(written) as Json, file },
    text: `${yes ? `${text}\n` : ""}Approved and written. ${back}`,
  };
}

function ruleId(rule: string): string {
  return stringMember(JSON.parse(rule) as Json, "id") ?? ""; // the gateway wrote it
}

/** Takes a rule of `--always` out of every policy of the user, and of those in force now. */
async function undo(id: string): Promise<Outcome> {
  if (!id.startsWith(alwaysPrefix))
    return failure("SG-USAGE", `\`--undo\` takes the id of a rule that \`--always\` wrote (${alwaysPrefix}...).`);
  const open = await askDaemon({ kind: "runs" });
  const inForce = open.ok ? open.value.reply.runs.map(({ policy }) => policy) : [];
  const files = [
    ...new Set([...userPolicies(process.env), ...inForce.map((source) => userPolicyFile(source, process.env))]),
  ];
  const removed: string[] = [];
  for (const file of files) {
    const done = removeRule(file, id);
    if (!done.ok) return failure("SG-ALWAYS", done.error);
    if (done.value) removed.push(file);
  }
  if (removed.length === 0) return failure("SG-ALWAYS", `No policy in force has the rule \`${shown(id, 60)}\`.`);
  return {
    exitCode: 0,
    json: { removed },
    text: `Removed from ${removed.map((file) => shortPath(file)).join(", ")}: such calls ask again.`,
  };
}

/** Characters of the arguments in the list; the card itself holds little more. */
const argumentsShownMax = 4_000;

async function pending(): Promise<Outcome> {
  return outcomeOf(await askDaemon({ kind: "approvals" }), pendingText, { approvals: [] });
}

function pendingText({ approvals }: Reply<"approvals">): string {
  return approvals.length === 0 ? "Nothing waits for consent." : groupedText(approvals);
}

/** Cards by server and tool, groups and cards in the order of the list; a group of several says how to answer them all. */
export function groupedText(approvals: readonly ApprovalView[]): string {
  const groups = new Map<string, ApprovalView[]>();
  for (const one of approvals) {
    const name = `${one.server}.${one.tool}`;
    groups.set(name, [...(groups.get(name) ?? []), one]);
  }
  return [...groups]
    .map(([name, cards]) => {
      const waiting = cards.filter(({ status }) => status === "pending").length;
      const bulk =
        waiting > 1 && name.length <= 140 ? `, all with \`sluicegate approve --all ${shellWord(name)}\`` : "";
      return [`${shown(name, 140)}  (${many(cards.length, "card")}${bulk})`, ...cards.map(cardText)].join("\n");
    })
    .join("\n");
}

function cardText(one: ApprovalView): string {
  return [
    `  ${one.id}  ${shown(one.title ?? "")}${standing(one)}`,
    ...((one.arguments ?? "") === "" ? [] : [`    with ${shown(one.arguments ?? "", argumentsShownMax)}`]),
    ...(one.lines ?? []).map((line) => `    ${shown(line, 400)}`),
    ...(one.always?.rule === undefined ? [] : [`    for always: \`sluicegate approve ${one.id} --always\``]),
  ].join("\n");
}

/** Outcome of an approval in words; empty for a call that still waits. */
function standing({ status, expires }: ApprovalView): string {
  return status === "pending" ? "" : `  (${shown(status, 20)}, until ${expires.slice(11, 16)} UTC)`;
}
