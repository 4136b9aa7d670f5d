/**
 * Section 6 of the specification: the classes of all tools, and the moves that the gateway does not decide in the same
 * form. Classes that no pattern, store or label of the model distinguishes are one.
 */
import { quoted, textOf } from "./json.ts";
import { type Refuse, bit, groupsOf } from "./labels.ts";
import { type ArgumentContract, type Contract, type Model, memoryOf } from "./model.ts";
import { type Action, type Effects, type Pattern, fitsEffects, fitsTool, mayDo } from "./patterns.ts";
import { workspacePredicate } from "./predicates.ts";

/** Arguments that no atom, default or store distinguishes. */
export type ArgumentKind = {
  readonly selectedBy: readonly number[];
  readonly control: boolean;
  /** Bits that this argument must not carry where the default is asked. */
  readonly forbidden: string;
  /** The call acts if this argument carries anything: it names an external place to read. */
  readonly place: boolean;
};
export type Key = "same" | "other" | "unreadable";
export type Class = {
  readonly name: string;
  readonly observed: boolean;
  /** Whether its key is the one that the model follows. */
  readonly key: Key;
  readonly consequential: boolean;
  /** It answers a question of its server, so the agent did not choose to do it. */
  readonly answers: boolean;
  /** The patterns that fit, labels and state aside. */
  readonly fits: readonly number[];
  readonly arguments: readonly ArgumentKind[];
  /** The default before labels: `asks`; `acts`, or `reads` at a place, if labels decide. */
  readonly byDefault: "asks" | "acts" | "reads" | "passes";
  readonly whole: string;
  readonly fields: readonly string[];
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  readonly opens: readonly { readonly store: string; readonly audience: number }[];
  /** The store of its process, where that may have read anything: it joins all restrictions. */
  readonly fills: string | undefined;
};

export const predicatesMax = 12;
/** One unit: one argument of one class compared with one pattern. */
export const classWorkMax = 10_000_000;

const keys: readonly Key[] = ["same", "other", "unreadable"];
type Argument = ArgumentContract & { readonly name: string | undefined };
type Variant = Omit<Contract, "arguments" | "effects"> &
  Action & {
    readonly arguments: readonly Argument[];
    readonly truth: (predicate: string, wanted: boolean) => boolean;
    readonly kindsOf: (asked: Asked) => readonly ArgumentKind[];
  };

export function classesOf(model: Model, refuse: Refuse): readonly Class[] {
  const merged = new Map<string, Class>();
  let work = 0;
  const spent = (more: number): boolean => {
    work += more;
    if (work > classWorkMax) refuse("the classes of all tools take more work than the limit allows");
    return work > classWorkMax;
  };
  for (const tool of model.tools) {
    if (spent(1 + model.patterns.length)) return [];
    const cases = tool.cases.map((one) => ({ ...one, predicates: one.predicates.map(textOf) }));
    const candidates = candidatesOf(model, tool);
    const everyArgument = argumentsOf(candidates, tool);
    const predicates = new Set(cases.flatMap((one) => one.predicates));
    for (const { pattern } of candidates) for (const asked of pattern.truths.keys()) predicates.add(asked);
    if (model.allow !== undefined) predicates.add(workspacePredicate);
    if (predicates.size > predicatesMax) refuse(`${nameOf(tool)} has more than 2^${predicatesMax} classes`);
    if (predicates.size > predicatesMax) return [];
    if (spent(2 ** predicates.size * (1 + candidates.length) * everyArgument.length)) return [];
    const order = [...predicates];
    const ofArguments = kindsWith(model, everyArgument);
    for (let truths = 0; truths < 2 ** order.length; truths += 1) {
      const holds = (predicate: string): boolean => ((truths >> order.indexOf(predicate)) & 1) === 1;
      const holding = cases.filter((one) => one.predicates.every(holds));
      const chosen = holding.find((one) => one.effects !== undefined)?.effects;
      const effects = chosen ?? tool.effects;
      const reads =
        chosen !== undefined && chosen.may.every((effect) => effect === "read" || effect.startsWith("read."));
      const flags = reads ? { ...tool.flags, irreversible: false } : tool.flags;
      const output = holding.find((one) => one.output !== undefined)?.output ?? tool.output;
      const truth = (predicate: string, wanted: boolean): boolean => holds(predicate) === wanted;
      const variant = { ...tool, effects, flags, arguments: everyArgument, truth, kindsOf: ofArguments };
      const one = { ...classOf(model, candidates, variant), ...outputOf(model, output) };
      for (const key of model.key === undefined ? (["same"] as const) : keys) {
        const { name, ...signature } = { ...one, key };
        const text = JSON.stringify(signature);
        if (!merged.has(text)) merged.set(text, { name, ...signature });
      }
    }
  }
  return [...merged.values()];
}

type Candidate = { readonly index: number; readonly pattern: Pattern };
const candidatesOf = ({ patterns }: Model, tool: Contract): readonly Candidate[] =>
  patterns.flatMap((pattern, index) => (fitsTool(pattern, tool) ? [{ index, pattern }] : []));

const nameOf = ({ server, tool }: Pick<Contract, "server" | "tool">): string =>
  `the tool ${quoted(`${server}.${tool}`)}`;

/** An argument that an atom names may be given whether or not the tool declares it. */
function argumentsOf(candidates: readonly Candidate[], tool: Contract): readonly Argument[] {
  const named = Object.entries(tool.arguments).map(([name, argument]) => ({ ...argument, name }));
  const asked = new Set(candidates.flatMap(({ pattern }) => pattern.data.flatMap(({ args }) => args ?? [])));
  const others = [...asked].filter((name) => !Object.hasOwn(tool.arguments, name));
  return [...named, ...others.map((name) => ({ ...tool.rest, name })), { ...tool.rest, name: undefined }];
}

function outputOf({ matters }: Model, output: Contract["output"]): Pick<Class, "whole" | "fields"> {
  const cut = (label: number): string => (BigInt(label) & matters).toString();
  const fields = new Set(output.fields.map(cut));
  return { whole: cut(output.label), fields: [...fields].sort() };
}

function classOf(model: Model, candidates: readonly Candidate[], variant: Variant): Class {
  const { policy } = model;
  const { server, reads, writes, opens, consequential, process } = variant;
  const mode = Object.hasOwn(policy.servers, server) ? policy.servers[server]?.mode : undefined;
  const fitting = candidates.filter(({ pattern }) => fitsAction(pattern, variant));
  const byDefault = model.allow === undefined ? "passes" : defaultOf(variant, variant.effects);
  const asked = { fitting, byDefault, written: writes.length > 0 };
  return {
    name: nameOf(variant),
    observed: policy.mode === "observe" || mode === "observe",
    key: "same",
    consequential,
    answers: variant.answers === true,
    fits: fitting.map(({ index }) => index),
    arguments: variant.kindsOf(asked),
    byDefault,
    whole: "0",
    fields: [],
    reads,
    writes,
    opens,
    fills: process === undefined ? writes.find((store) => store === memoryOf(server)) : undefined,
  };
}

function fitsAction(pattern: Pattern, { truth, effects }: Variant): boolean {
  if (!fitsEffects(pattern, effects)) return false;
  return [...pattern.truths].every(([predicate, wanted]) => truth(predicate, wanted));
}

type Asked = {
  readonly fitting: readonly Candidate[];
  readonly byDefault: Class["byDefault"];
  readonly written: boolean;
};

/** Most truth values do not change the arguments, so results are cached by the patterns that fit. */
function kindsWith(model: Model, all: readonly Argument[]): Variant["kindsOf"] {
  const known = new Map<string, readonly ArgumentKind[]>();
  return (asked) => {
    const text = `${asked.byDefault} ${asked.fitting.map(({ index }) => index).join(",")}`;
    const found = known.get(text) ?? kindsOf(model, all, asked);
    known.set(text, found);
    return found;
  };
}

function kindsOf(model: Model, all: readonly Argument[], asked: Asked): readonly ArgumentKind[] {
  const kinds = all.map((one) => kindOf(model, one, asked));
  const different = new Map(kinds.map((kind) => [JSON.stringify(kind), kind]));
  // An argument that no atom selects matters only by the label that it adds to a store.
  const seen = ({ selectedBy, control, forbidden }: ArgumentKind): boolean =>
    asked.written || selectedBy.length > 0 || control || forbidden !== "0";
  return [...different.values()].filter(seen);
}

const isControl = ({ role }: Argument): boolean => role !== "content";

function kindOf({ matters }: Model, argument: Argument, { fitting, byDefault }: Asked): ArgumentKind {
  const acts = byDefault === "acts" || byDefault === "reads";
  const { name, role, audience, sink } = argument;
  const atoms = fitting.flatMap(({ pattern }) => pattern.data);
  const selecting = atoms.filter(
    (atom) =>
      // An argument whose role is in doubt is one of each role.
      (role === "unsure" || (atom.roles?.includes(role) ?? true)) &&
      (atom.args === undefined || (name !== undefined && atom.args.includes(name))) &&
      (atom.audience === undefined || (atom.audience & BigInt(audience)) !== 0n),
  );
  return {
    selectedBy: selecting.map(({ index }) => index),
    control: acts && isControl(argument),
    forbidden: acts && sink ? (BigInt(argument.forbidden) & matters).toString() : "0",
    place: byDefault === "reads" && sink && isControl(argument),
  };
}

const actingEffects = [
  "read.external.send",
  "write.external",
  ...["delete", "pay", "grant", "credential", "config", "actuate"].map((kind) => `write.local.${kind}`),
];

function defaultOf(variant: Variant, effects: Effects | "all"): Class["byDefault"] {
  const may = (prefix: string): boolean => effects === "all" || mayDo(effects, prefix);
  const enclosed = variant.process !== undefined;
  if (may("execute") && !enclosed) return "asks";
  if (may("write.local") && !enclosed && variant.truth(workspacePredicate, false)) return "asks";
  if (variant.flags.irreversible || actingEffects.some(may)) return "acts";
  return may("read.external") ? "reads" : "passes";
}

/** A fire or host move, judged like a call: its one or two arguments carry the label that `carries` names. */
export type FreeMove = {
  readonly name: string;
  readonly store: string | undefined;
  readonly group: number;
  readonly judged: Class;
};

const noTool: Contract = {
  server: "",
  tool: "",
  effects: { must: [], may: [] },
  flags: { irreversible: false, openWorld: true },
  arguments: {},
  rest: { role: "content", sink: true, audience: 0, forbidden: 0 },
  output: { label: 0, fields: [] },
  cases: [],
  reads: [],
  writes: [],
  opens: [],
  consequential: true,
};

/** Section 7: fire for every store and group, and the open moves of the host. */
export function freeMoves(model: Model): readonly FreeMove[] {
  const { groups } = model.lattice;
  const judged = (change: Partial<Variant>): Class => {
    const { arguments: all = [] } = change;
    const variant = { ...noTool, arguments: all, truth: () => true, kindsOf: kindsWith(model, all), ...change };
    return classOf(model, candidatesOf(model, { ...noTool, flags: variant.flags }), variant);
  };
  const content = (audience: number): Argument => ({ ...noTool.rest, audience, name: undefined });
  const doing = (effect: string): Effects => ({ must: [effect], may: [effect] });
  const stores = Object.keys(model.policy.stores);
  const fires = groups.flatMap((_, group) => {
    const read = judged({ effects: doing("write.external.share"), arguments: [content(2 ** group)] });
    return stores.map((store) => ({ name: `a reader of the store ${quoted(store)}`, store, group, judged: read }));
  });
  const { send, execute } = model.host;
  const everyone = groups.includes("anyone") ? ["anyone"] : groups;
  const to = send === "everything" ? everyone : send === "nothing" ? [] : send;
  const audience = Number(groupsOf(model.lattice, to));
  const host = { store: undefined, group: 0 };
  const sent = judged({ effects: doing("write.external.send"), arguments: [content(audience)] });
  const all = content(Number(bit(groups.length) - 1n));
  const flags = { irreversible: true, openWorld: true };
  const done = judged({ effects: "all", flags, arguments: [all, { ...all, role: "query" }] });
  return [
    ...fires,
    ...(to.length === 0 ? [] : [{ name: "what the host may send by itself", ...host, judged: sent }]),
    ...(execute === "nothing" ? [] : [{ name: "what the host may execute by itself", ...host, judged: done }]),
  ];
}
