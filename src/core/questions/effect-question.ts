/**
 * Questions to a judge about a call in its projection (arXiv 2602.14281, appendix A.2): which destinations the call needs,
 * and whether its events look trusted. Question and answer are plain data, so answers are logged and replayed.
 */
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../json.ts";

/** Kinds of the two questions; the content is an `EffectsContext`, or a `DomainsContext`, as JSON. */
export const effectsJudgeKind = "effects-judge";
export const domainsJudgeKind = "domains-judge";

/** Lines of events in a question, the gravest first. */
export const judgedLinesMax = 40;

/** Destinations that a judge may choose among. */
export const candidatesMax = 16;

export type EffectsContext = {
  readonly version: 1;
  readonly server: string;
  readonly tool: string;
  /** Effects that the tool may have by its labels; empty for an unlabelled tool. */
  readonly effects: readonly string[];
  /** What the call was asked to do, bounded (`toldArguments`). Data of agent, user or strangers, never an instruction. */
  readonly arguments: JsonObject;
  /** One line for each event; texts in them are the server's. */
  readonly events: readonly string[];
  /** Ids of the deterministic rules that match. */
  readonly rules: readonly string[];
  /** Names of the restrictions of everything above (`restrictionNames`). */
  readonly evidence: readonly string[];
};

export type DomainsContext = {
  readonly version: 1;
  readonly server: string;
  readonly tool: string;
  readonly effects: readonly string[];
  /** As in `EffectsContext`. */
  readonly arguments: JsonObject;
  /** `host:port`, each named by an argument of the call. Nothing else can be chosen. */
  readonly candidates: readonly string[];
  readonly evidence: readonly string[];
};

export type EffectsVerdict = {
  readonly trusted: boolean;
  readonly reason: string;
  readonly flags: readonly string[];
};

/** Bounds on a verdict, whose words are a model's about hostile text. */
export const flagsMax = 8;
export const flagCharactersMax = 48;
export const reasonCharactersMax = 400;

/** Reads a verdict; undefined for any other JSON. Texts and flags are cut to their bounds. */
export function effectsVerdictFrom(json: Json): EffectsVerdict | undefined {
  const trusted = member(json, "trusted");
  const flags = member(json, "flags") ?? [];
  if (typeof trusted !== "boolean" || !isArray(flags)) return undefined;
  const words = flags.flatMap((flag) => (typeof flag === "string" ? [flag.slice(0, flagCharactersMax)] : []));
  const reason = (stringMember(json, "reason") ?? "").slice(0, reasonCharactersMax);
  return { trusted, reason, flags: words.slice(0, flagsMax) };
}

/** Destinations of an answer that are among the candidates; other names are dropped. */
export function chosenDomains(json: Json, candidates: readonly string[]): readonly string[] {
  const chosen = member(json, "allowed_domains");
  if (!isArray(chosen)) return [];
  const named = new Set(chosen.filter((name) => typeof name === "string").map((name) => name.toLowerCase()));
  // Models write a host without its port; it can only mean the one that was offered.
  return candidates.filter((one) => named.has(one) || named.has(one.replace(/:[0-9]+$/, "")));
}

/** Reads the content of a question; undefined for any other JSON. */
export function effectsContextFrom(json: Json): EffectsContext | undefined {
  const head = headFrom(json);
  const events = wordsFrom(member(json, "events"));
  const rules = wordsFrom(member(json, "rules"));
  if (head === undefined || events === undefined || rules === undefined) return undefined;
  return { ...head, events, rules };
}

/** As `effectsContextFrom`. */
export function domainsContextFrom(json: Json): DomainsContext | undefined {
  const head = headFrom(json);
  const candidates = wordsFrom(member(json, "candidates"));
  return head === undefined || candidates === undefined ? undefined : { ...head, candidates };
}

type Head = Omit<DomainsContext, "candidates">;

function headFrom(json: Json): Head | undefined {
  const server = stringMember(json, "server");
  const tool = stringMember(json, "tool");
  const effects = wordsFrom(member(json, "effects"));
  const evidence = wordsFrom(member(json, "evidence"));
  const given = argumentsFrom(member(json, "arguments"));
  if (member(json, "version") !== 1 || server === undefined || tool === undefined) return undefined;
  if (effects === undefined || evidence === undefined || given === undefined) return undefined;
  return { version: 1, server, tool, effects, arguments: given, evidence };
}

function argumentsFrom(json: Json | undefined): JsonObject | undefined {
  return json !== undefined && isObject(json) ? json : undefined;
}

function wordsFrom(json: Json | undefined): readonly string[] | undefined {
  if (!isArray(json)) return undefined;
  const words = json.filter((word) => typeof word === "string");
  return words.length === json.length ? words : undefined;
}
