/**
 * The contract of a tool, made once for each policy and manifest. A decision looks at nothing else, so every doubt must
 * be in it: an unlabelled tool does anything, reveals anything, and is seen by anyone.
 */
import type { ArgumentContract, ToolContract } from "../../core/contract.ts";
import { type Effect, mayCover } from "../../core/effect.ts";
import { type JsonObject, isArray, isObject, member, stringMember } from "../../core/json.ts";
import { compileStatement } from "../compile/tools.ts";
import { predicateRegistry } from "../compile/tests.ts";
import { argumentOf } from "./arguments.ts";
import { shippedLabels } from "./carriers.ts";
import { memoryOf, processOutput, speaksOf } from "./enclosed.ts";
import {
  type Evidence,
  type Sourced,
  casesOf,
  claimedOf,
  effectsOf,
  firstOf,
  flagsOf,
  outputOf,
  typesOf,
} from "./statements.ts";
import {
  type LabelTable,
  type PackTable,
  type ServerFacts,
  type ToolStatement,
  serverFacts,
} from "../ir/label-table.ts";
import { inferTool } from "./infer.ts";
import { readingKey } from "../sections/readings.ts";
import { nameMatches } from "../semantics/patterns.ts";

/** Listed tools by server. */
export type ToolLists = { readonly [server: string]: readonly JsonObject[] };

/** Digest of a tool as its server lists it: SHA-256 of the RFC 8785 text of the whole entry, in hex. */
export type ToolDigest = (listed: JsonObject) => string;

/** Contract of a listed tool; `listed` is the whole hostile `Tool` object. */
export function contractOfTool(
  table: LabelTable,
  server: string,
  listed: JsonObject,
  digestOf: ToolDigest,
): ToolContract {
  const tool = stringMember(listed, "name") ?? "";
  const toolDigest = digestOf(listed);
  const contract = assemble(table, evidenceOf(table, { server, tool, listed, toolDigest }), {
    server,
    tool,
    toolDigest,
  });
  const required = requiredOf(listed, contract);
  return required.length === 0 ? contract : { ...contract, required };
}

/** The arguments that the tool's own schema declares and requires. */
function requiredOf(listed: JsonObject, contract: ToolContract): readonly string[] {
  const schema = member(listed, "inputSchema");
  const required = isObject(schema) ? member(schema, "required") : undefined;
  if (!isArray(required)) return [];
  return [...contract.arguments.keys()].filter((name) => required.includes(name));
}

export type ToolSubject = {
  readonly server: string;
  readonly tool: string;
  readonly listed: JsonObject;
  readonly toolDigest: string | undefined;
};

/** All that the policy, the pack, the accepted reading, the server and inference say of one tool. */
export function evidenceOf(table: LabelTable, subject: ToolSubject): Evidence {
  const { server, tool, listed } = subject;
  const facts = serverFacts(table, server);
  const believed: Sourced[] = table.entries
    .filter((entry) => nameMatches(entry.server, server) && nameMatches(entry.tool, tool))
    .map((entry) => ({ source: "operator", statement: entry.statement }));
  const pack = packOf(table, facts, subject);
  const packed = pack?.tools.get(tool);
  if (packed !== undefined) believed.push({ source: "pack", statement: packed });
  const read = readingOf(table, subject);
  if (read !== undefined) believed.push({ source: "card", statement: read });
  const running = table.processes.get(server);
  const remembers = running?.apart === true && memoryOf(table, server) !== undefined;
  return {
    lattice: table.labels.lattice,
    facts,
    schema: believesSchema(facts, pack, subject, believed),
    reach: facts.reach ?? pack?.reach,
    believed,
    shipped: shippedStatement(table, listed),
    inferred: inferTool(listed),
    process: running?.process,
    processOutput: remembers ? processOutput(table) : undefined,
  };
}

/**
 * Whether what the schema offers (`enum`, `const`, `default`) was looked at by those who label the tool: nothing else keeps a
 * server from offering the address of its choice. A list that changed is withheld before it comes here.
 */
function believesSchema(
  facts: ServerFacts,
  pack: PackTable | undefined,
  { tool, toolDigest }: ToolSubject,
  believed: readonly Sourced[],
): boolean {
  if (believed.some(({ source }) => source === "card")) return true;
  const pinned = pack?.digests.get(tool);
  if (pinned !== undefined && toolDigest !== undefined && pinned.includes(toolDigest)) return true;
  if (facts.trust === "trusted" || believed.some(({ source }) => source === "operator")) return true;
  // A pack that knows the digests of a tool speaks of no other version's schema.
  return believed.length > 0 && pinned === undefined;
}

/**
 * The pack that the operator chose for the server, else one that was pinned to exactly this tool. A server that copies
 * a pinned entry to the letter gets its labels; that it also behaves so is what admission and isolation watch.
 */
export function packOf(table: LabelTable, facts: ServerFacts, subject: ToolSubject): PackTable | undefined {
  if (facts.pack !== undefined) return table.packs.get(facts.pack);
  const digest = subject.toolDigest;
  if (digest === undefined) return undefined;
  return [...table.packs.values()].find((pack) => pack.digests.get(subject.tool)?.includes(digest) === true);
}

/** What was accepted of exactly this listed tool. */
function readingOf(table: LabelTable, { server, tool, toolDigest }: ToolSubject): ToolStatement | undefined {
  return toolDigest === undefined ? undefined : table.readings.get(readingKey({ server, tool, digest: toolDigest }));
}

/** Whether the operator says anything of a server's tools: by labels, by a pack chosen for it, or on a card. */
export function isLabelled(table: LabelTable, server: string): boolean {
  if (serverFacts(table, server).pack !== undefined) return true;
  return (
    table.entries.some((one) => nameMatches(one.server, server)) ||
    // The server of a key ends at its first dot, as in selectors.
    [...table.readings.keys()].some((key) => key.startsWith(`${server}.`))
  );
}

/** Whether a card was accepted for exactly this tool, or the pack of its server, without one any in use, is pinned to it. */
export function isPinned(
  table: LabelTable,
  tool: Pick<ToolSubject, "server" | "tool"> & { toolDigest: string },
): boolean {
  if (table.readings.has(readingKey({ ...tool, digest: tool.toolDigest }))) return true;
  const { pack } = serverFacts(table, tool.server);
  const packs = pack === undefined ? [...table.packs.values()] : [table.packs.get(pack)];
  return packs.some((one) => one?.digests.get(tool.tool)?.includes(tool.toolDigest) === true);
}

function shippedStatement(table: LabelTable, listed: JsonObject): ToolStatement | undefined {
  if (table.unshipped === true) return undefined;
  const form = shippedLabels(listed, table.labels.lattice);
  if (form === undefined) return undefined;
  let wrong = false;
  const report = (): void => {
    wrong = true;
  };
  // Words that this policy does not have make the whole statement say nothing, which is the worst case anyway.
  const scope = {
    labels: table.labels.quiet(report),
    registry: predicateRegistry(),
    stores: [...table.stores.keys()],
    initial: new Map<string, never>(),
    report,
  };
  const { reads: _reads, writes: _writes, opens: _opens, ...own } = form;
  const statement = compileStatement(own, [], scope);
  return wrong ? undefined : statement;
}

type Identity = Pick<ToolContract, "server" | "tool" | "toolDigest">;

export function assemble(table: LabelTable, evidence: Evidence, identity: Identity): ToolContract {
  const effects = effectsOf(evidence);
  const output = outputOf(evidence);
  const stores = firstOf(evidence.believed, "writes")?.value ?? [];
  const cases = casesOf(evidence);
  // The audience of an argument is stated once for all calls of a tool, so the effects of any case count for each.
  const widest = [...effects.value.may, ...cases.flatMap((one) => one.effects?.may ?? [])];
  const seen = audienceOf(table, evidence, widest, stores);
  const named = new Set([
    ...evidence.inferred.arguments.keys(),
    ...evidence.believed.flatMap(({ statement }) => [...statement.arguments.keys()]),
  ]);
  const args = new Map([...named].map((name) => [name, argumentOf(table, evidence, name, seen)] as const));
  const rest = argumentOf(table, evidence, undefined, seen);
  const claimed = claimedOf(evidence);
  const types = typesOf(evidence);
  const memory = memoryOf(table, identity.server);
  return {
    ...identity,
    source: effects.source === "unknown" ? output.source : effects.source,
    effects: effects.value,
    ...(claimed.length === 0 ? {} : { claimed }),
    flags: flagsOf(evidence),
    arguments: args,
    rest,
    output: output.value,
    cases,
    reads: withStore(
      firstOf(evidence.believed, "reads")?.value ?? [],
      vouchesForResults(table, evidence, identity) ? undefined : memory,
    ),
    writes: withStore(stores, memory),
    opens: firstOf(evidence.believed, "opens")?.value ?? [],
    ...(types.length === 0 ? {} : { types }),
    consequential: isConsequential(widest, [...args.values(), rest]),
    ...(evidence.process === undefined ? {} : { process: evidence.process }),
  };
}

/**
 * Somebody with authority says what the results of this very tool are. The word of a pack about another version of the
 * tool does not narrow what the process of the server may have kept.
 */
function vouchesForResults(table: LabelTable, { facts, believed }: Evidence, identity: Identity): boolean {
  const stated = firstOf(believed, "output");
  if (stated === undefined) return false;
  const { server, tool, toolDigest } = identity;
  const pack = packOf(table, facts, { server, tool, toolDigest, listed: {} });
  return stated.source !== "pack" || speaksOf(pack, tool, toolDigest);
}

function withStore(stores: readonly string[], store: string | undefined): readonly string[] {
  return store === undefined || stores.includes(store) ? stores : [...stores, store].toSorted();
}

/** Anything but a pure read whose arguments no other reader sees. */
function isConsequential(effects: readonly Effect[], args: readonly ArgumentContract[]): boolean {
  const onlyReads = effects.every((effect) => effect === "read" || effect.startsWith("read."));
  return !onlyReads || args.some((argument) => argument.sink);
}

/** The audience of an argument without a statement of its own; undefined where the argument stays on this machine. */
function audienceOf(
  table: LabelTable,
  evidence: Evidence,
  effects: readonly Effect[],
  stores: readonly string[],
): readonly string[] | undefined {
  const { facts } = evidence;
  const outside = mayCover("write.external", effects) || mayCover("execute.external", effects);
  const networked = evidence.reach === "network" || outside || mayCover("read.external", effects);
  if (!networked) return undefined;
  const audience = new Set<string>([facts.operator ?? "anyone"]);
  if (outside) {
    // The readers of a declared store see data written to it; data written elsewhere is seen by anyone.
    const declared = stores.flatMap((store) => table.stores.get(store) ?? ["anyone"]);
    for (const group of declared.length === 0 ? ["anyone"] : declared) audience.add(group);
  }
  return [...audience].toSorted();
}
