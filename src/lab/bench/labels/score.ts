/** `sluicegate bench labels`: what is read of tools against what hands wrote, and against three rules that need no reading. */
import { type Role, roles } from "../../../core/contract.ts";
import { covers } from "../../../core/effect.ts";
import { type JsonObject, isArray, member, stringMember } from "../../../core/json.ts";
import { toolDeeds } from "../../../oracles/labels/deeds.ts";
import { signsOf } from "../../../oracles/labels/signs.ts";
import { type ToolReading, readTool, readingThreshold } from "../../../oracles/labels/reading.ts";
import { deedsOfWord } from "../../../oracles/labels/lexicon.ts";
import { listed as wordIn, wordsOf } from "../../../policy/contracts/name-words.ts";
import type { HandLabel, HandServer, Hands, Sink } from "./hand-labelled.ts";
import { isRight } from "./right.ts";

/** Precision counts predictions, recall what is surely there; what may be there is neither missed nor wrong. */
export type Rates = { readonly precision: number; readonly recall: number; readonly f1: number };

export type CalibrationBand = {
  readonly from: number;
  readonly to: number;
  readonly facts: number;
  readonly right: number;
  readonly meant: number;
};

export type LabelsRow = {
  readonly part: "seen" | "unseen";
  readonly variant: string;
  readonly servers: number;
  readonly tools: number;
  readonly effects: Rates;
  /** Roles but `content` and `query`; a statement of a database is critical in any word. */
  readonly critical: Rates;
  /** Of what is above the threshold: share of all tools, and share that is right. */
  readonly stated: { readonly tools: number; readonly right: number };
  /** Tools that only read, and those of them that are stated to. */
  readonly reads: { readonly all: number; readonly stated: number };
  /** Tools that act and are stated to read: there must be none. */
  readonly sinksRead: readonly string[];
};

type Guess = {
  readonly effects: readonly string[];
  /** The single likeliest effects. */
  readonly likeliest: readonly string[];
  readonly stated: boolean;
  readonly probability: number;
  readonly roles: ReadonlyMap<string, { readonly role: string; readonly probability: number }>;
};

type Guesser = (tool: JsonObject, server: HandServer) => Guess;

export type LabelsScore = {
  readonly rows: readonly LabelsRow[];
  readonly perEffect: readonly {
    readonly part: string;
    readonly effect: string;
    readonly sure: number;
    readonly found: number;
    readonly wrong: number;
  }[];
  readonly calibration: {
    readonly [part: string]: {
      readonly effects: readonly CalibrationBand[];
      readonly roles: readonly CalibrationBand[];
    };
  };
  readonly sinks: { readonly all: number; readonly read: readonly string[] };
  readonly absent: number;
  readonly threshold: number;
};

export function scoreLabels(hands: Hands): LabelsScore {
  const variants: readonly (readonly [string, Guesser])[] = [
    ["reading", reading],
    ["nothing known", () => ({ effects: [], likeliest: [], stated: false, probability: 0, roles: new Map() })],
    ["first verb", firstVerb],
    ["annotations believed", annotated],
  ];
  const parts = (["seen", "unseen"] as const).map((part) => ({
    part,
    servers: hands.servers.filter(({ seen }) => seen === (part === "seen")),
  }));
  const rows = parts.flatMap(({ part, servers }) =>
    variants.map(([variant, guess]) => rowOf(part, variant, servers, guess)),
  );
  return {
    rows,
    perEffect: parts.flatMap(({ part, servers }) => effectRows(part, servers)),
    calibration: Object.fromEntries(parts.map(({ part, servers }) => [part, bandsOf(servers)])),
    sinks: sinksRead(hands.sinks),
    absent: hands.absent.length,
    threshold: readingThreshold,
  };
}

function reading(tool: JsonObject, { server, listed }: Pick<HandServer, "server" | "listed">): Guess {
  const context = { server, tools: listed };
  return guessOf(readTool(tool, context), toolDeeds(signsOf(tool, context)).likeliest);
}

function guessOf(reading: ToolReading, likeliest: readonly string[]): Guess {
  const effects = reading.facts.find(({ about }) => about === "effects");
  const named = reading.facts.flatMap(({ about, value, probability }) => {
    const name = /^args\/(.*)\/role$/s.exec(about)?.[1];
    return name === undefined || typeof value !== "string" ? [] : [[name, { role: value, probability }] as const];
  });
  return {
    effects: isArray(effects?.value) ? effects.value.filter((one) => typeof one === "string") : [],
    likeliest,
    stated: reading.label.effects !== undefined,
    probability: effects?.probability ?? 0,
    roles: new Map(named),
  };
}

function labelled({ listed, tools }: HandServer): readonly (readonly [JsonObject, HandLabel])[] {
  return tools.flatMap((label) => {
    const tool = listed.find((one) => stringMember(one, "name") === label.tool);
    return tool === undefined ? [] : [[tool, label] as const];
  });
}

type Counts = { right: number; wrong: number; found: number; missed: number };

function rowOf(part: LabelsRow["part"], variant: string, servers: readonly HandServer[], guess: Guesser): LabelsRow {
  const effects: Counts = { right: 0, wrong: 0, found: 0, missed: 0 };
  const critical: Counts = { right: 0, wrong: 0, found: 0, missed: 0 };
  const stated = { tools: 0, right: 0 };
  const reads = { all: 0, stated: 0 };
  const sinks: string[] = [];
  let all = 0;
  for (const server of servers) {
    for (const [tool, label] of labelled(server)) {
      const found = guess(tool, server);
      all += 1;
      countEffects(effects, found.likeliest, label);
      countRoles(critical, found, label);
      const statesRead = found.stated && found.effects.every((effect) => covers("read", effect));
      if (found.stated) stated.tools += 1;
      if (found.stated && isRight(found.effects, label)) stated.right += 1;
      if (!label.sink) reads.all += 1;
      if (statesRead && !label.sink) reads.stated += 1;
      if (statesRead && label.sink) sinks.push(`${server.server}.${label.tool}`);
    }
  }
  return {
    part,
    variant,
    servers: servers.length,
    tools: all,
    effects: ratesOf(effects),
    critical: ratesOf(critical),
    stated,
    reads,
    sinksRead: sinks,
  };
}

function countEffects(counts: Counts, effects: readonly string[], { effects: { must, may } }: HandLabel): void {
  const right = effects.filter((effect) => may.includes(effect)).length;
  const found = must.filter((effect) => effects.includes(effect)).length;
  counts.right += right;
  counts.wrong += effects.length - right;
  counts.found += found;
  counts.missed += must.length - found;
}

const isCritical = (role: string): boolean => role !== "content" && role !== "query";

function countRoles(counts: Counts, found: Guess, { args }: HandLabel): void {
  for (const [name, wanted] of args) {
    const role = found.roles.get(name)?.role;
    const right = role !== undefined && wanted.includes(role);
    if (role !== undefined && isCritical(role)) counts[right ? "right" : "wrong"] += 1;
    if (wanted.every(isCritical)) counts[right ? "found" : "missed"] += 1;
  }
}

function ratesOf({ right, wrong, found, missed }: Counts): Rates {
  const precision = right + wrong === 0 ? 0 : right / (right + wrong);
  const recall = found + missed === 0 ? 0 : found / (found + missed);
  return { precision, recall, f1: precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall) };
}

function effectRows(part: string, servers: readonly HandServer[]): LabelsScore["perEffect"] {
  const counts = new Map<string, { sure: number; found: number; wrong: number }>();
  const at = (effect: string) => {
    const known = counts.get(effect) ?? { sure: 0, found: 0, wrong: 0 };
    counts.set(effect, known);
    return known;
  };
  for (const server of servers) {
    for (const [tool, label] of labelled(server)) {
      const { likeliest: effects } = reading(tool, server);
      for (const effect of label.effects.must) {
        at(effect).sure += 1;
        if (effects.includes(effect)) at(effect).found += 1;
      }
      for (const effect of effects) if (!label.effects.may.includes(effect)) at(effect).wrong += 1;
    }
  }
  return [...counts]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([effect, count]) => ({ part, effect, ...count }));
}

const edges: readonly number[] = [0, 0.5, 0.7, 0.8, 0.9, 0.95, 1];

function bandsOf(servers: readonly HandServer[]): {
  effects: readonly CalibrationBand[];
  roles: readonly CalibrationBand[];
} {
  const effects: (readonly [number, boolean])[] = [];
  const named: (readonly [number, boolean])[] = [];
  for (const server of servers) {
    for (const [tool, label] of labelled(server)) {
      const found = reading(tool, server);
      effects.push([found.probability, isRight(found.effects, label)]);
      for (const [name, wanted] of label.args) {
        const role = found.roles.get(name);
        if (role !== undefined) named.push([role.probability, wanted.includes(role.role)]);
      }
    }
  }
  return { effects: banded(effects), roles: banded(named) };
}

function banded(facts: readonly (readonly [number, boolean])[]): readonly CalibrationBand[] {
  return edges.slice(0, -1).map((from, index) => {
    const to = edges[index + 1] ?? 1;
    const inside = facts.filter(([share]) => share >= from && (share < to || to === 1));
    const meant = inside.reduce((sum, [share]) => sum + share, 0) / Math.max(1, inside.length);
    return { from, to, facts: inside.length, right: inside.filter(([, right]) => right).length, meant };
  });
}

function sinksRead(sinks: readonly Sink[]): LabelsScore["sinks"] {
  const read = sinks.filter(({ server, listed, tool }) => {
    const { effects, stated } = reading(tool, { server, listed });
    return stated && effects.every((effect) => covers("read", effect));
  });
  return { all: sinks.length, read: read.map(({ server, tool }) => `${server}.${stringMember(tool, "name") ?? ""}`) };
}

/** The effect that the first verb of the name would have, outside. */
function firstVerb(tool: JsonObject): Guess {
  const kinds = wordsOf(stringMember(tool, "name") ?? "").flatMap((word) => wordIn(deedsOfWord, word)?.[0] ?? []);
  const [kind = "read"] = kinds;
  const base = kind === "execute" ? "execute.external" : kind === "read" ? "read.external" : "write.external";
  const action = ["read", "write", "execute", "carry", "download", "visit", "touch"].includes(kind) ? "" : `.${kind}`;
  return known([`${base}${action}`], tool);
}

/** What MCP annotations say; a tool without any is not known. */
function annotated(tool: JsonObject): Guess {
  const hint = (key: string): unknown => member(member(tool, "annotations"), key);
  const reach = hint("openWorldHint") === false ? "local" : "external";
  if (hint("readOnlyHint") === true) return known([`read.${reach}`], tool);
  if (hint("readOnlyHint") !== false) return { ...known([], tool), stated: false };
  const effect = hint("destructiveHint") === true ? `write.${reach}.delete` : `write.${reach}`;
  return known([effect], tool);
}

function known(effects: readonly string[], tool: JsonObject): Guess {
  return { effects, likeliest: effects, stated: true, probability: 1, roles: identifiers(tool) };
}

/** The commonest role for every argument. */
function identifiers(tool: JsonObject): Guess["roles"] {
  const properties = member(member(tool, "inputSchema"), "properties");
  const role: Role = roles[2];
  return new Map(Object.keys(properties ?? {}).map((name) => [name, { role, probability: 1 }]));
}
