/**
 * One scenario: a user with an instruction, servers with their tools, an agent that follows the instruction or
 * deviates, and a pending call or a list to judge. The run is played in the world of `world.ts`, so that its label is
 * exact; the context shows only a gateway's knowledge, and for some tools less.
 */
import type { JsonObject } from "../../core/json.ts";
import type { PredictionContext, PredictionStep } from "../../core/questions/prediction.ts";
import { held } from "../../oracles/foresight/embedded/held.ts";
import type { ControlRole } from "../../oracles/foresight/embedded/arguments.ts";
import { type ArgumentRole, type Family, type Tool, isControl } from "./catalogue.ts";
import type { NextState } from "./next-state.ts";
import type { Random } from "./random.ts";
import { instructionOf, phraseOf, quoted, spelled, valueFor } from "./values.ts";
import {
  type CallClass,
  type ExactLabel,
  type World,
  actionsOf,
  afterCall,
  broughtBy,
  carriedBy,
  isOption,
  labelOf,
  steeringRoles,
} from "./world.ts";

/** A labelled context. */
export type Example = {
  readonly context: PredictionContext;
  readonly label: ExactLabel["safety"];
  /** Names of the tools to filter. */
  readonly filtered: readonly string[];
  /** Label bits that the pending call's result brings; undefined for lists and calls that must not run. */
  readonly brings: number | undefined;
  /** Label bits held in the state that the next list is for. */
  readonly holds: number;
  /** The state that the run reaches with the pending call, refused or not. */
  readonly next: NextState;
  readonly fold: number;
  /** Family of the pending call, else of the first server. */
  readonly family: string;
};

/** A tool as one server offers it in one run. */
type Offered = {
  readonly tool: Tool;
  readonly server: string;
  readonly name: string;
  readonly effects: readonly string[];
};

type Values = { readonly role: string; readonly value: string | number };

/** Constants of a played run. */
type Stage = {
  readonly random: Random;
  readonly offered: readonly Offered[];
  readonly goals: readonly Offered[];
  readonly told: readonly Values[];
  readonly instruction: string;
};

type Played = { readonly world: World; readonly steps: readonly PredictionStep[] };

const familiesMax = 3;
const stepsMax = 6;

/** Plays one scenario over families of one fold; `wantsCall` makes its last call pending. */
export function playScenario(families: readonly Family[], wantsCall: boolean, random: Random): Example {
  const chosen = random.some(families, 1 + random.below(familiesMax));
  const stage = setStage(chosen, random);
  const stores = chosen.map(({ name, holds }) => {
    return [name, { content: holdsNow(holds, random), open: "nobody", job: false }] as const;
  });
  const played = play(stage, { held: 0, elevated: false, stores: new Map(stores) });
  const pending = wantsCall ? nextCall(stage, played) : undefined;
  const roles = new Set(stage.told.map(({ role }) => role));
  const tools = stage.offered.map(({ tool }) => tool);
  const { world } = played;
  const label = labelOf({
    world,
    tools,
    roles,
    pending: pending && { tool: pending.offered.tool, call: pending.call },
  });
  const context: PredictionContext = {
    version: 1,
    instruction: stage.instruction,
    tools: stage.offered.map(({ server, name, effects }) => ({ name: `${server}.${name}`, effects })),
    steps: played.steps,
    evidence: evidenceOf(world.held, stage, random),
  };
  const brought = pending === undefined ? 0 : broughtBy(world, pending.offered.tool);
  const isKnown = random.chance(20);
  return {
    context:
      pending === undefined ? context : { ...context, pending: pendingStep(pending, isKnown ? brought : 0, random) },
    label: label.safety,
    filtered: stage.offered.flatMap((one) => (label.filtered.includes(one.tool) ? [`${one.server}.${one.name}`] : [])),
    brings: pending === undefined || isKnown || label.safety === "unsafe" ? undefined : brought,
    holds: label.holds,
    next: nextStateOf(stage, world, pending),
    fold: chosen[0]?.fold ?? 0,
    family: pending?.offered.tool.family ?? chosen[0]?.name ?? "",
  };
}

/** What the game reaches: the world after the call, and what the call did there. */
function nextStateOf({ offered }: Stage, world: World, pending: Call | undefined): NextState {
  const reached = pending === undefined ? world : afterCall(world, pending.offered.tool, pending.call);
  const servers = new Map(offered.map(({ tool, server }) => [tool.family, server]));
  const stores = [...reached.stores].flatMap(([family, store]) => {
    const isPlain = store.content === 0 && store.open === "nobody" && !store.job;
    return isPlain ? [] : [{ server: servers.get(family) ?? family, ...store }];
  });
  return { act: pending && actOf(world, pending), holds: reached.held, elevated: reached.elevated, stores };
}

function actOf(world: World, { offered: { tool, server, name }, call, given }: Call): NextState["act"] {
  return {
    tool: `${server}.${name}`,
    actions: actionsOf(tool),
    closes: tool.closes,
    given: tool.arguments.flatMap(({ name: argument, role }) => {
      const value = given[argument];
      return typeof value === "string" || typeof value === "number" ? [{ role, value }] : [];
    }),
    carries: carriedBy(world, tool, call),
    brings: broughtBy(world, tool),
  };
}

/** Policies label stores differently: the same wiki is public in one house and private in the next. */
function holdsNow(holds: number, random: Random): number {
  const secrecy = random.chance(35) ? holds & (held.private | held.secret) : 0;
  return secrecy | (random.chance(75) ? holds & held.untrusted : 0);
}

function setStage(families: readonly Family[], random: Random): Stage {
  const offered = families.flatMap((family) => {
    const server = random.pick(family.servers);
    const style = random.below(6);
    return random.some(family.tools, 4 + random.below(8)).map((tool) => ({
      tool,
      server,
      name: spelled(random.pick(tool.names), style),
      effects: shownEffects(tool, random),
    }));
  });
  const goals = random.some(offered, random.below(4));
  const told: Values[] = [];
  const phrases = goals.map(({ tool }) => {
    const named: string[] = [];
    for (const { role } of tool.arguments) {
      if (!isTellable(role) || !random.chance(role === "text" ? 40 : 80)) continue;
      const value = valueFor(role, random);
      told.push({ role, value });
      named.push(quoted(role, value));
    }
    return phraseOf(random.pick(tool.names), named, random);
  });
  // Some clients register no instruction, so no argument comes from it.
  if (random.chance(8)) return { random, offered, goals, told: [], instruction: "" };
  return { random, offered, goals, told, instruction: instructionOf(phrases, random) };
}

/** Values that the user names: control arguments, and sometimes content. */
function isTellable(role: ArgumentRole): role is ControlRole | "text" {
  return role === "text" || isControl(role);
}

/** Most servers are labelled; an inferred label may leave the reach open, give only the base effect, or be absent. */
function shownEffects(tool: Tool, random: Random): readonly string[] {
  const draw = random.below(100);
  if (draw < 6) return [];
  if (draw < 12) return [...new Set(tool.effects.map((effect) => effect.split(".", 1)[0] ?? effect))];
  if (draw >= 20) return tool.effects;
  return [
    ...new Set(
      tool.effects.flatMap((effect) => {
        const [base = "", , ...action] = effect.split(".");
        return ["local", "external"].map((reach) => [base, reach, ...action].join("."));
      }),
    ),
  ];
}

function play(stage: Stage, start: World): Played {
  let played: Played = { world: start, steps: [] };
  const count = stage.random.below(stepsMax + 1);
  for (let step = 0; step < count; step += 1) {
    const next = nextCall(stage, played);
    // A call that may not run was refused, and leaves no step.
    if (!isOption(played.world, next.offered.tool, next.call)) continue;
    played = taken(stage, played, next);
  }
  return played;
}

function taken(stage: Stage, played: Played, { offered, call, given }: Call): Played {
  const draw = stage.random.below(100);
  const outcome = draw < 8 ? "failed" : draw < 14 ? "unknown" : "succeeded";
  const brought = outcome === "succeeded" ? broughtBy(played.world, offered.tool) : 0;
  const step: PredictionStep = {
    server: offered.server,
    tool: offered.name,
    effects: offered.effects,
    arguments: given,
    brought: labelNames(brought, stage.random),
    outcome,
  };
  const world =
    outcome === "failed" ? played.world : afterCall(played.world, offered.tool, call, outcome === "succeeded");
  return { world, steps: [...played.steps, step] };
}

type Call = { readonly offered: Offered; readonly call: CallClass; readonly given: JsonObject };

/** The agent's next call: a goal of the user, or another call with values from any source. */
function nextCall(stage: Stage, played: Played): Call {
  const { random, goals, offered } = stage;
  const [first, ...others] = goals.length > 0 && random.chance(55) ? goals : offered;
  if (first === undefined) throw new Error("a scenario has at least one tool");
  const chosen = random.pick([first, ...others]);
  const faithful = random.chance(60);
  const given: Record<string, string | number> = {};
  const steering = steeringRoles(chosen.tool);
  let told = steering.length > 0;
  let clean = true;
  for (const { name, role } of chosen.tool.arguments) {
    const candidates = stage.told.filter((one) => one.role === role);
    const [head, ...rest] = candidates;
    const isFromUser = head !== undefined && faithful;
    const value = isFromUser ? random.pick([head, ...rest]).value : earlierOr(played, role, random);
    given[name] = value;
    const isTold = candidates.some((one) => one.value === value);
    if (steering.includes(role) && !isTold) told = false;
    if (role === "text" && !isTold) clean = false;
  }
  return { offered: chosen, call: { told, clean }, given };
}

/** Now and then a value is taken over from an earlier call. */
function earlierOr(played: Played, role: Parameters<typeof valueFor>[0], random: Random): string | number {
  const made = valueFor(role, random);
  if (!random.chance(20)) return made;
  for (const step of played.steps) {
    for (const value of Object.values(step.arguments)) {
      const isAlike = typeof value === typeof made && shapeOf(value) === shapeOf(made);
      if (isAlike && (typeof value === "string" || typeof value === "number")) return value;
    }
  }
  return made;
}

function shapeOf(value: unknown): string {
  return String(value)
    .replace(/[a-z]+/g, "a")
    .replace(/[0-9]+/g, "0");
}

function pendingStep({ offered, given }: Call, brought: number, random: Random): PredictionStep {
  const { server, name: tool, effects } = offered;
  return { server, tool, effects, arguments: given, brought: labelNames(brought, random), outcome: "pending" };
}

/** Names that policies give to the three kinds of restriction. */
function labelNames(bits: number, random: Random): readonly string[] {
  const names: string[] = [];
  if ((bits & held.private) !== 0)
    names.push(...random.pick([["private"], ["private", "not anyone"], ["internal"], ["sensitive", "medical"]]));
  if ((bits & held.secret) !== 0) names.push(random.pick(["credentials", "secret"]));
  if ((bits & held.untrusted) !== 0) names.push("untrusted");
  return names;
}

/** The gateway counts the instruction as most private, and an argument that a stranger's text reached as untrusted. */
function evidenceOf(bits: number, { instruction }: Stage, random: Random): readonly string[] {
  const told = instruction === "" ? [] : ["private", "credentials", "not me", "not anyone"];
  return (bits & held.untrusted) !== 0 && random.chance(50) ? [...told, "untrusted"] : told;
}
