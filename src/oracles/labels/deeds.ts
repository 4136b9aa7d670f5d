/** Effects of a tool from its signs: a logistic score for each question, and the list of effects that the answers make. */
import { type Effect, effectActions } from "../../core/effect.ts";
import { fitted } from "./fitted.ts";
import { deedKinds } from "./lexicon.ts";
import type { Sign } from "./sign.ts";

export type Deeds = {
  /** What it does, widened to every reach and action that is not unlikely enough. */
  readonly effects: readonly Effect[];
  /** The single likeliest effects. */
  readonly likeliest: readonly Effect[];
  /** That every effect that a call surely has is among `effects`, and that it does nothing but read where they say so. */
  readonly probability: number;
  /** Strongest evidence first. */
  readonly because: readonly string[];
};

/** A tool with a sign of acting is never read as one that only reads with more than this. */
const doubtfulReadMax = 0.6;

/** Each of these is a sign of acting that reading words beside it do not outweigh. */
const actingSigns =
  /^(name:(?!read)|name-carried:|schema:|text:(send|pay|delete|publish|grant|share|execute|credential)$|readOnlyHint=false|destructiveHint=true|arg:(amount!|recipient!|command!))/;

/** Whether a sign is one of acting. */
export function isActing(id: string): boolean {
  return actingSigns.test(id);
}

export function toolDeeds(signs: readonly Sign[]): Deeds {
  const ids = signs.map(({ id }) => id);
  const { kind, ...deeds } = likeliest(ids, probabilityOf);
  const sure = fitted.calibrated(caseOf(kind, ids), deeds.probability);
  const acting = kind === "reads" && ids.some(isActing);
  return {
    ...deeds,
    probability: acting ? Math.min(sure, doubtfulReadMax) : sure,
    because: becauseOf(signs, deeds.likeliest),
  };
}

/**
 * How much the name and the description agree: where they do, a score is worth more. Each case has a calibration of its own.
 */
export function caseOf(kind: "reads" | "acts", ids: readonly string[]): string {
  const told = (place: string): readonly boolean[] =>
    ids.flatMap((id) =>
      id.startsWith(`${place}:`) && deeds.has(id.slice(place.length + 1)) ? [id === `${place}:read`] : [],
    );
  const [name, text] = [told("name"), told("text")];
  const wanted = kind === "reads";
  if (kind === "reads" && ids.some(isActing)) return "reads against";
  if (name.length === 0) return text.includes(wanted) ? `${kind} told` : `${kind} unnamed`;
  if (!name.includes(wanted)) return `${kind} unnamed`;
  return text.includes(wanted) ? `${kind} agreed` : `${kind} named`;
}

const deeds: ReadonlySet<string> = new Set(deedKinds);

/** That the answer to a question is yes. */
type Answering = (question: string, ids: readonly string[]) => number;

function probabilityOf(question: string, ids: readonly string[]): number {
  return 1 / (1 + Math.exp(-scoreOf(question, ids)));
}

function scoreOf(question: string, ids: readonly string[]): number {
  const weights = fitted.deeds.get(question);
  return ids.reduce((sum, id) => sum + (weights?.get(id) ?? 0), weights?.get("bias") ?? 0);
}

export type Likeliest = Pick<Deeds, "effects" | "likeliest" | "probability"> & { readonly kind: "reads" | "acts" };

/** An answer is open where it is less sure than this: then both ways are named. */
const sureMin = 0.9;
/** An action as unlikely as this is not named. */
const actionMin = 0.08;

/** What a tool does under some answers. What is saved to a file is read where the tool reads, and written here. */
export function likeliest(ids: readonly string[], ask: Answering): Likeliest {
  const of = (question: string): number => ask(question, ids);
  const outside = of("outside");
  const reach = outside >= 0.5 ? "external" : "local";
  const reaches = Math.max(outside, 1 - outside) < sureMin ? ["local", "external"] : [reach];
  const wide = (base: string, actions: readonly string[]): readonly Effect[] =>
    reaches.flatMap((one) => actions.map((action) => `${base}.${one}${action}`)).toSorted();
  const [runs, writes, reads, acts] = [of("runs"), of("writes"), of("reads"), of("acts")];
  const alsoDoing = (effects: readonly Effect[]): readonly Effect[] =>
    [...new Set([...effects, ...besides(ids, reaches)])].toSorted();
  if (runs >= 0.5)
    return { kind: "acts", effects: ranBy(reach, ids), likeliest: [`execute.${reach}`], probability: runs };
  const saves =
    ids.includes("schema:saves") ||
    (ids.includes("name:download") && !ids.includes("text:inline")) ||
    ids.includes("vcs:pull");
  // A file that goes to a service is read here.
  const sent = ids.includes("file:sent") && !ids.includes("schema:saves") ? ["read.local"] : [];
  if (writes < 0.5 || (writes < reads && !saves)) {
    const read = [...new Set([`read.${reach}`, ...sent])];
    const probability = 1 - Math.max(acts, writes, runs);
    return { kind: "reads", effects: readsBesides(ids, wide("read", [""])), likeliest: read, probability };
  }
  const both = saves && reads >= 0.5;
  const actions = effectActions
    .map((name) => ({ name, share: of(name) }))
    .toSorted((left, right) => right.share - left.share);
  const [best] = actions;
  const named = best !== undefined && best.share >= 0.5 ? `.${best.name}` : "";
  const open = actions.filter(({ share }) => share >= actionMin).map(({ name }) => `.${name}`);
  const write = `write.${both ? "local" : reach}${named}`;
  return {
    kind: "acts",
    // What has an action may also be a plain change.
    effects: alsoDoing(both ? [...wide("read", [""]), write] : wide("write", ["", ...open])),
    likeliest: both ? [`read.${reach}`, write] : [...sent, write],
    probability: writes * (1 - runs) * (both ? reads : 1),
  };
}

/** Code does on its side whatever there is to do, and on this machine everywhere. */
function ranBy(reach: string, ids: readonly string[]): readonly Effect[] {
  const here = reach === "local" || ids.includes("server:browser");
  const places = here ? ["external", "local"] : ["external"];
  const runs = reach === "local" ? ["execute.external", "execute.local"] : ["execute.external"];
  return [...runs, ...places.map((place) => `read.${place}`), ...places.map((place) => `write.${place}`)];
}

/** A file of this machine or an address that may be read along. */
function readsBesides(ids: readonly string[], effects: readonly Effect[]): readonly Effect[] {
  const more = [
    ...(ids.includes("file:named") ? ["read.local"] : []),
    ...(ids.includes("also:fetches") ? ["read.external"] : []),
  ];
  return [...new Set([...effects, ...more])].toSorted();
}

/** What a change may do besides: reading what it changes or attaches, and carrying out what it is given. */
function besides(ids: readonly string[], reaches: readonly string[]): readonly Effect[] {
  return [
    ...readsBesides(ids, []),
    ...reaches.map((reach) => `read.${reach}`),
    ...(ids.includes("also:runs") ? ["execute.external", "read.external"] : []),
    ...(ids.includes("also:hooks") ? ["execute.local"] : []),
  ];
}

/** The signs that speak most for what was found, each once. */
function becauseOf(signs: readonly Sign[], effects: readonly Effect[]): readonly string[] {
  const acts = effects.some((effect) => !effect.startsWith("read"));
  const questions = ["acts", "writes", "runs", "outside", ...effects.flatMap((effect) => effect.split(".")[2] ?? [])];
  const weighed = signs.map((sign) => {
    const own = questions.map((question) => fitted.deeds.get(question)?.get(sign.id) ?? 0);
    const [most = 0] = own.map(Math.abs).toSorted((left, right) => right - left);
    const against = !acts && (own[0] ?? 0) > 0 && !sign.id.startsWith("server") && !sign.id.startsWith("tools");
    return { because: sign.because, weight: against ? 0 : most };
  });
  const strongest = weighed.filter(({ weight }) => weight > 0.2).toSorted((left, right) => right.weight - left.weight);
  return [...new Set(strongest.map(({ because }) => because))].slice(0, 6);
}
