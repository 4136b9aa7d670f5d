/** What an operator who accepts a reading unread gives authority to: its facts against those of the hand labels. */
import { type Role, isControl, roles } from "../../../core/contract.ts";
import { type Effect, covers } from "../../../core/effect.ts";
import { type Json, isArray, isObject, member, stringMember } from "../../../core/json.ts";
import type { HandServer, HandTool } from "./hand-labels.ts";

export type FactCount = {
  /** Facts of readings about tools and arguments that are labelled by hand. */
  readonly facts: number;
  /** Of these the wrong ones, `server.tool: fact`. */
  readonly wrong: readonly string[];
  /** The wrong ones that permit more than they should: an effect left out, a steering argument called content. */
  readonly permitting: number;
  /** Readings about tools without hand labels. */
  readonly unjudged: number;
};

/** Readings in the form of the section `readings` of a policy. */
export function countFacts(readings: readonly Json[], servers: ReadonlyMap<string, HandServer>): FactCount {
  const found: Fact[] = [];
  let unjudged = 0;
  for (const reading of readings) {
    const [server, tool] = ["server", "tool"].map((name) => stringMember(reading, name));
    const hand = servers.get(server ?? "")?.tools.get(tool ?? "");
    if (hand === undefined) unjudged += 1;
    else found.push(...factsOf(`${server}.${tool}`, member(reading, "label"), hand));
  }
  const wrong = found.filter((one) => one.wrong);
  const permitting = wrong.filter((one) => one.permits).length;
  return { facts: found.length, wrong: wrong.map((one) => one.fact), permitting, unjudged };
}

type Fact = { readonly fact: string; readonly wrong: boolean; readonly permits: boolean };

function factsOf(tool: string, label: Json | undefined, hand: HandTool): readonly Fact[] {
  const said = effectsOf(member(label, "effects"));
  const effects = [...new Set([...said, ...hand.may])].map((effect): Fact => {
    const claimed = covered(effect, said);
    const [missing, extra] = [!claimed, !covered(effect, hand.may)];
    return { fact: `${tool}: ${missing ? "not " : ""}${effect}`, wrong: missing || extra, permits: missing };
  });
  const args = member(label, "args");
  const given = Object.entries(isObject(args) ? args : {}).flatMap(([name, value]) => {
    const [role, right] = [roleOf(value), hand.args.get(name)];
    if (role === undefined || right === undefined) return [];
    const permits = role === "content" && right.every(isControl);
    return [{ fact: `${tool}: ${name} is ${role}`, wrong: !right.includes(role), permits }];
  });
  // An empty reading claims nothing, so nothing of it is wrong.
  return said.length === 0 && given.length === 0 ? [] : [...effects, ...given];
}

/** An action is a special case of its base and reach, and a longer path of a shorter one. */
const covered = (effect: Effect, among: readonly Effect[]): boolean => among.some((one) => covers(one, effect));

function effectsOf(value: Json | undefined): readonly Effect[] {
  const may = isObject(value) ? member(value, "may") : value;
  if (typeof may === "string") return [may];
  return isArray(may) ? may.filter((one) => typeof one === "string") : [];
}

function roleOf(value: Json): Role | undefined {
  const word = typeof value === "string" ? value : member(value, "role");
  return roles.find((role) => role === word);
}
