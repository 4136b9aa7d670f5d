/**
 * Makes the table of weights of `oracles/labels` from the hand labels of the seen servers: the fit itself, and the
 * calibration on predictions for servers that were held out of it.
 */
import { roles } from "../../../core/contract.ts";
import { effectActions } from "../../../core/effect.ts";
import { type JsonObject, stringMember } from "../../../core/json.ts";
import { caseOf, likeliest } from "../../../oracles/labels/deeds.ts";
import { argumentSigns, roleCase } from "../../../oracles/labels/roles.ts";
import { signsOf } from "../../../oracles/labels/signs.ts";
import { inferArguments } from "../../../policy/contracts/infer.ts";
import type { HandLabel, HandServer } from "./hand-labelled.ts";
import { type Pull, type Row, type Weights, bearsOn, fitLogistic, pullOf, scoreOf } from "./fit.ts";
import { priors, rolePrior } from "./priors.ts";
import { isRight } from "./right.ts";

/** A tool or an argument as the fit sees it. */
type Case = { readonly server: string; readonly signs: readonly string[]; readonly weight: number };
type ToolCase = Case & { readonly label: HandLabel };
type ArgumentCase = Case & { readonly roles: readonly string[] };

export type Table = { readonly [question: string]: Weights };
export type Trained = {
  readonly deeds: Table;
  readonly roles: Table;
  readonly calibration: { readonly [kind: string]: readonly [slope: number, shift: number] };
};

/** Servers are held out in this many parts. */
const parts = 10;
/** Tools that must answer a question with yes before it is fitted. */
const yesMin = 3;
/** A case with fewer labels has no calibration: its facts stay unknown. */
const casesMin = 12;
/** Words seen at fewer servers say nothing of others. */
const serversMin = { tool: 3, argument: 2 } as const;

export function train(servers: readonly HandServer[]): Trained {
  const tools = toolCases(servers);
  const args = argumentCases(servers);
  const deeds = fitDeeds(tools);
  const named = fitRoles(args);
  return { deeds, roles: named, calibration: calibrate(tools, args) };
}

function toolCases(servers: readonly HandServer[]): readonly ToolCase[] {
  return servers.flatMap(({ server, listed, tools }) =>
    tools.flatMap((label) => {
      const tool = named(listed, label.tool);
      if (tool === undefined) return [];
      const signs = signsOf(tool, { server, tools: listed }).map(({ id }) => id);
      return [{ server, signs, label, weight: Math.min(1, 2.5 / Math.sqrt(tools.length)) }];
    }),
  );
}

function argumentCases(servers: readonly HandServer[]): readonly ArgumentCase[] {
  return servers.flatMap(({ server, listed, tools }) =>
    tools.flatMap(({ tool: name, args }) => {
      const tool = named(listed, name);
      if (tool === undefined) return [];
      const known = inferArguments(tool);
      return [...args].map(([argument, wanted]) => {
        const first = known.get(argument);
        const signs = argumentSigns(tool, argument, first?.known === true ? first.role : undefined, {
          server,
          tools: listed,
        });
        return { server, signs, roles: wanted, weight: Math.min(1, 3 / Math.sqrt(tools.length)) };
      });
    }),
  );
}

function named(listed: readonly JsonObject[], name: string): JsonObject | undefined {
  return listed.find((one) => stringMember(one, "name") === name);
}

/** Signs that are no words, and words of enough servers. */
function counted(cases: readonly Case[], least: number): (sign: string) => boolean {
  const seen = new Map<string, Set<string>>();
  for (const { server, signs } of cases) {
    for (const sign of signs) seen.set(sign, (seen.get(sign) ?? new Set()).add(server));
  }
  return (sign) => !/(^|&)[a-z]=/.test(sign) || (seen.get(sign)?.size ?? 0) >= least;
}

const questions: readonly string[] = ["acts", "reads", "writes", "runs", "outside", ...effectActions];

/** The answer of a label, or undefined where some calls do it and some do not. */
function answerOf(question: string, { effects: { must, may }, sink }: HandLabel): boolean | undefined {
  const some = (list: readonly string[], test: (effect: string) => boolean): boolean => list.some((one) => test(one));
  const answer = (test: (effect: string) => boolean): boolean | undefined =>
    some(must, test) ? true : some(may, test) ? undefined : false;
  if (question === "acts") return sink;
  if (question === "reads") return answer((effect) => effect.startsWith("read"));
  if (question === "writes") return answer((effect) => effect.startsWith("write"));
  if (question === "runs") return answer((effect) => effect.startsWith("execute"));
  if (question === "outside") {
    const all = must.length > 0 ? must : may;
    const outside = all.filter((effect) => effect.includes(".external")).length;
    return outside === all.length ? true : outside === 0 ? false : undefined;
  }
  if (!some(may, (effect) => effect.startsWith("write"))) return undefined;
  return answer((effect) => effect.endsWith(`.${question}`));
}

function fitDeeds(tools: readonly ToolCase[]): Table {
  const counts = counted(tools, serversMin.tool);
  return Object.fromEntries(
    questions.map((question) => {
      const rows = tools.flatMap(({ signs, label, weight }): Row[] => {
        const yes = answerOf(question, label);
        const bearing = signs.filter((sign) => counts(sign) && bearsOn(question, sign));
        return yes === undefined ? [] : [{ signs: bearing, yes, weight }];
      });
      const prior = priors[question] ?? {};
      // Where hardly a tool says yes, a fit would only learn to say no.
      const told = rows.filter(({ yes }) => yes).length >= yesMin;
      return [question, told ? fitLogistic(rows, prior, pullOf(question)) : prior];
    }),
  );
}

const rolePull: Pull = { known: 0.3, word: 0.25, bias: 0.3 };

function fitRoles(args: readonly ArgumentCase[]): Table {
  const counts = counted(args, serversMin.argument);
  return Object.fromEntries(
    roles.map((role) => {
      const rows = args.flatMap(({ signs, roles: wanted, weight }): Row[] => {
        // A role that is right too is no wrong one; the labeller's own choice is the right one.
        if (wanted.includes(role) && wanted[0] !== role) return [];
        return [{ signs: signs.filter(counts), yes: wanted[0] === role, weight }];
      });
      return [role, fitLogistic(rows, rolePrior(role), rolePull)];
    }),
  );
}

function calibrate(tools: readonly ToolCase[], args: readonly ArgumentCase[]): Trained["calibration"] {
  const names = [...new Set(tools.map(({ server }) => server))];
  const scored = new Map<string, Row[]>();
  const note = (name: string, row: Row): void => void scored.set(name, [...(scored.get(name) ?? []), row]);
  for (let part = 0; part < parts; part += 1) {
    const held = new Set(names.filter((_, index) => index % parts === part));
    const deeds = fitDeeds(tools.filter(({ server }) => !held.has(server)));
    for (const { signs, label } of tools.filter(({ server }) => held.has(server))) {
      const { kind, effects, probability } = likeliest(signs, (question, ids) =>
        logistic(scoreOf(deeds[question] ?? {}, ids)),
      );
      note(caseOf(kind, signs), scoredRow(probability, isRight(effects, label)));
    }
    const table = fitRoles(args.filter(({ server }) => !held.has(server)));
    for (const { signs, roles: wanted } of args.filter(({ server }) => held.has(server))) {
      const odds = roles.map((role) => Math.exp(scoreOf(table[role] ?? {}, signs)));
      const best = odds.indexOf(Math.max(...odds));
      const share = (odds[best] ?? 0) / odds.reduce((sum, one) => sum + one, 0);
      const role = roles[best] ?? "";
      note(roleCase(role, signs), scoredRow(share, wanted.includes(role)));
    }
  }
  const kept = [...scored]
    .filter(([, rows]) => rows.length >= casesMin)
    .toSorted(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(kept.map(([name, rows]) => [name, straightened(rows)]));
}

function logistic(score: number): number {
  return 1 / (1 + Math.exp(-score));
}

/** The log-odds of a score stand as repeated signs would: the fit below is of one number. */
function scoredRow(probability: number, yes: boolean): Row {
  return { signs: [String(logOdds(probability))], yes, weight: 1 };
}

function logOdds(probability: number): number {
  const bounded = Math.min(1 - 1e-6, Math.max(1e-6, probability));
  return Math.log(bounded / (1 - bounded));
}

/** Slope and shift that make log-odds those of being right, by gradient; 4,000 steps are far more than it takes. */
function straightened(rows: readonly Row[]): readonly [number, number] {
  let [slope, shift] = [1, 0];
  for (let round = 0; round < 4_000; round += 1) {
    let [bySlope, byShift] = [0.01 * (slope - 1), 0.01 * shift];
    for (const { signs, yes } of rows) {
      const score = Number(signs[0]);
      const miss = logistic(slope * score + shift) - (yes ? 1 : 0);
      bySlope += miss * score;
      byShift += miss;
    }
    slope -= (0.2 / rows.length) * bySlope;
    shift -= (0.2 / rows.length) * byShift;
  }
  // More evidence is never worth less.
  return slope >= 0 ? [slope, shift] : [0, logOdds(rows.filter(({ yes }) => yes).length / rows.length)];
}
