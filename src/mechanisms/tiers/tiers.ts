/**
 * Permission: the plain rules of the policy in their tiers, and the default for calls of which no rule speaks
 * (policy.md 1). Order: block > confirm > allow > default; the temporal part of `must` is the mechanism `sequence`.
 * An allow rule lifts the question of the default, never an opinion of another mechanism.
 */
import type { Mechanism } from "../../core/mechanism.ts";
import type { ToolContract } from "../../core/contract.ts";
import { type Answers, type Opinion, type Reason, noObjection, settled } from "../../core/opinion.ts";
import type { CallMoment, CallOption } from "../../core/moment.ts";
import { argumentFacts, decidingArguments, atomBits } from "../../policy/semantics/explanations.ts";
import type { PolicyModel } from "../../policy/semantics/model.ts";
import { staticMatch } from "../../policy/semantics/patterns.ts";
import { unreadClause } from "../../policy/semantics/readings.ts";
import { stateOf } from "../../policy/semantics/state.ts";
import type { Frame } from "../../policy/semantics/transition.ts";
import {
  type Ends,
  type PlainRule,
  type Scene,
  defaultAtEnds,
  firedRules,
  verdictAt,
} from "../../policy/semantics/verdicts.ts";
import { canonicalPath } from "../../policy/values/path.ts";
import { consult } from "./checks.ts";

const id = "tiers";

/** Folders of a workspace that an explanation names; clients send few, and users read few. */
const rootsNamedMax = 8;

export function makeTiers(frame: Frame, model: PolicyModel): Mechanism<null> {
  const entries = new WeakMap<ToolContract, Opinion>();
  // Contracts are immutable and say all that hides a tool, and every call is also judged as an entry of the list.
  const entryOf = (contract: ToolContract): Opinion => {
    let opinion = entries.get(contract);
    if (opinion === undefined) entries.set(contract, (opinion = exposed(frame, contract)));
    return opinion;
  };
  return {
    id,
    version: 1,
    initial: () => null,
    remember: () => null,
    consider: ({ moment, option }, run, _memory, answers) => {
      if (moment.kind === "expose") return entryOf(moment.contract);
      if (moment.kind !== "call" || option === undefined) return noObjection;
      return called({ frame, q: stateOf(run.q), option, at: moment.at }, model, { moment, answers });
    },
  };
}

/** A tool that a block rule stops whatever its arguments and the state are is hidden: showing it only costs context. */
function exposed(frame: Frame, contract: ToolContract): Opinion {
  const undeclared = quarantined(frame, contract);
  if (undeclared !== undefined) return settled([undeclared]);
  const hiding = frame.ir.rules.filter(
    (rule): rule is PlainRule =>
      rule.kind === "plain" && rule.tier === "block" && stopsAlways(rule) && certain(rule, contract),
  );
  return settled(hiding.map((rule) => ruleReason(rule, "deny", "SG-RULE-HIDDEN", {})));
}

/** Sources that state what a tool does, in words made for that; names, texts and observations are none of them. */
const declaring: ReadonlySet<string> = new Set(["operator", "pack", "card", "server"]);

/**
 * With `admission: {labels: declared}` a server's tool without labels is in quarantine (MCPShield: labels are part of the
 * manifest). A protocol method has no digest of an entry, and its contract is the gateway's own.
 */
function quarantined(frame: Frame, contract: ToolContract): Reason | undefined {
  const { source, server, toolDigest } = contract;
  if (frame.ir.declaredOnly !== true || toolDigest === undefined || declaring.has(source)) return undefined;
  const way = "label the tool in the policy, or accept the reading of its server";
  return { mechanism: id, code: "SG-ADMIT-UNLABELLED", verdict: "deny", facts: { server }, way };
}

function stopsAlways({ when }: PlainRule): boolean {
  return when.predicates.length === 0 && when.data.length === 0 && when.stores.length === 0 && when.held === undefined;
}

/** It matches every case of the tool even if the tool does only what it surely does. */
function certain(rule: PlainRule, contract: ToolContract): boolean {
  const effects = [contract.effects, ...contract.cases.flatMap((one) => one.effects ?? [])];
  return effects.every((range) => staticMatch(rule.when, { ...contract, effects: range }, "restrict", "lo"));
}

function called(
  scene: Scene,
  model: PolicyModel,
  asked: { readonly moment: CallMoment; readonly answers: Answers },
): Opinion {
  const undeclared = quarantined(scene.frame, scene.option.contract);
  if (undeclared !== undefined) return settled([undeclared]);
  const { rules, checks, defaultAsks } = model.relevant(scene.option.contract);
  const fired = firedRules(scene, rules);
  const reasons: Reason[] = [];
  for (const { rule, at } of fired) {
    if (rule.tier === "allow") continue;
    const verdict = verdictAt(at, rule.tier === "block" ? "deny" : "confirm");
    const code = rule.tier === "block" ? (verdict === "deny" ? "SG-RULE-BLOCK" : "SG-RULE-UNSURE") : "SG-RULE-CONFIRM";
    reasons.push(ruleReason(rule, verdict, code, ruleFacts(scene, rule)));
  }
  // Only a rule that surely applies, and is enforced, can take the question of the default away.
  const allowed = fired.some(({ rule, at }) => rule.tier === "allow" && rule.mode === "enforce" && at.hi);
  if (!allowed && defaultAsks)
    reasons.push(...explained(scene, asked.moment, defaultReasons(scene, asked.moment.workspace)));
  const opinion = settled(reasons);
  if (opinion.verdict === "deny") return opinion;
  const { questions, reasons: said } = consult(scene, checks, asked);
  if (questions.length > 0) return { kind: "needs", questions };
  return said.length === 0 ? opinion : settled([...reasons, ...said]);
}

function ruleFacts(scene: Scene, rule: PlainRule): Reason["facts"] {
  const bits = rule.when.data.reduce((all, atom) => all | atomBits(atom.atom), 0);
  return argumentFacts(decidingArguments(scene.frame.ir.lattice, scene.option, bits));
}

function ruleReason(rule: PlainRule, verdict: Reason["verdict"], code: string, facts: Reason["facts"]): Reason {
  return {
    mechanism: id,
    code,
    verdict,
    rule: rule.id,
    why: rule.why,
    facts,
    serves: rule.serves,
    ...("arguments" in facts ? { way: "leave that data out" } : {}),
    ...(rule.mode === "observe" ? { observed: true as const } : {}),
  };
}

/** A question that a plainer argument would have spared says what kept it from being read. */
function explained({ frame, option }: Scene, moment: CallMoment, reasons: readonly Reason[]): readonly Reason[] {
  const [first, ...others] = reasons;
  if (first === undefined) return reasons;
  const { truths } = option.class;
  const reading = unreadClause(frame, option.contract, { truths, arguments: moment.arguments });
  return reading === undefined ? reasons : [{ ...first, facts: { ...first.facts, reading } }, ...others];
}

function defaultReasons(scene: Scene, workspace: CallMoment["workspace"]): readonly Reason[] {
  const { lo, hi } = defaultAtEnds(scene);
  // Most calls ask nothing, and the facts below are only for an explanation.
  if (![...Object.values(lo), ...Object.values(hi)].includes(true)) return [];
  const { lattice } = scene.frame.ir;
  const reasons: Reason[] = [];
  const ask = (at: Ends, code: string, facts: Reason["facts"], way: string): void => {
    const verdict = verdictAt(at, "confirm");
    if (verdict !== "allow") reasons.push({ mechanism: id, code, verdict, facts, way });
  };
  if (unlabelled(scene.option) && Object.values(hi).some(Boolean) && !Object.values(lo).some(Boolean)) {
    // Four ways of saying that nothing is known would hide the one thing that helps: labels.
    const way = "label its server in the policy, or mark the server trusted";
    ask({ lo: false, hi: true }, "SG-ASK-UNLABELLED", { server: scene.option.contract.server }, way);
    return reasons;
  }
  const control = decidingArguments(lattice, scene.option, lattice.untrustedBit).filter((one) =>
    isControl(scene.option, one.argument),
  );
  ask({ lo: lo.execute, hi: hi.execute }, "SG-ASK-EXECUTE", {}, "ask the person, or do it without running code");
  const outside = { workspace: workspace.slice(0, rootsNamedMax).flatMap((root) => canonicalPath(root) ?? []) };
  ask({ lo: lo.outside, hi: hi.outside }, "SG-ASK-OUTSIDE", outside, "write inside the workspace");
  ask(
    { lo: lo.untrusted, hi: hi.untrusted },
    "SG-ASK-UNTRUSTED",
    argumentFacts(control),
    "use values that the person gave or that trusted tools returned",
  );
  ask(
    { lo: lo.untraced, hi: hi.untraced },
    "SG-ASK-UNTRACED",
    {},
    "name what the call acts on, in an argument that steers it, or call it before untrusted data comes in",
  );
  ask({ lo: lo.bound, hi: hi.bound }, "SG-ASK-BOUND", argumentFacts(aboveBound(scene)), "leave that data out");
  return reasons;
}

/** Neither the operator, nor a pack, nor an accepted card says what the tool does. */
function unlabelled({ contract }: CallOption): boolean {
  return !["operator", "pack", "card"].includes(contract.source) && contract.effects.must.length === 0;
}

function aboveBound(scene: Scene): ReturnType<typeof decidingArguments> {
  const { contract } = scene.option;
  return [...scene.option.arguments.keys()].flatMap((name) => {
    const argument = contract.arguments.get(name) ?? contract.rest;
    if (!argument.sink) return [];
    const own = decidingArguments(scene.frame.ir.lattice, scene.option, argument.forbidden);
    return own.filter((one) => one.argument === name);
  });
}

function isControl(option: CallOption, name: string): boolean {
  return (option.contract.arguments.get(name) ?? option.contract.rest).role !== "content";
}
