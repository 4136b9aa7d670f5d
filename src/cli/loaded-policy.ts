/** Puts a compiled policy together with the mechanisms it needs: the policy as the gateway uses it. */
import type { JsonObject } from "../core/json.ts";
import type { ToolContract } from "../core/contract.ts";
import { exactly, joinRanges } from "../core/label.ts";
import { seal } from "../core/mechanism.ts";
import type { Engine, SealedMechanism } from "../core/mechanism.ts";
import type { Result } from "../core/result.ts";
import { err, ok } from "../core/result.ts";
import type { LoadedPolicy } from "../gateway/policy-port.ts";
import { makeFlow } from "../mechanisms/flow/flow.ts";
import { makeProjection } from "../mechanisms/projection/projection.ts";
import { makeSequence, openDebts } from "../mechanisms/sequence/sequence.ts";
import { makeTiers } from "../mechanisms/tiers/tiers.ts";
import type { PolicyInput } from "../policy/canonical/extends.ts";
import type { CompiledPolicy } from "../policy/compile.ts";
import { contractOfTool } from "../policy/contracts.ts";
import { contractOfHostTool, contractOfMethod } from "../policy/contracts/methods.ts";
import { serverFacts } from "../policy/contracts/table.ts";
import type { Diagnostic, Problem } from "../policy/diagnostic.ts";
import type { PolicyDocument } from "../policy/document.ts";
import { hazardReasons } from "../policy/hazard-reasons.ts";
import { isolationOrder } from "../policy/isolation/order.ts";
import type { Loaded } from "../policy/load.ts";
import { loadPolicy } from "../policy/load.ts";
import type { PolicyModel } from "../policy/model.ts";
import { makeModel } from "../policy/model.ts";
import { slotsOf } from "../policy/monitors.ts";
import {
  describeStores,
  exportShared,
  importShared,
  sharedChanged,
  topState,
  withShared,
} from "../policy/shared-state.ts";
import { permitsQuestions } from "../policy/questions.ts";
import type { Q } from "../policy/state.ts";
import { addedRange, contextOf, storeRange, unmediated } from "../policy/state.ts";
import type { Frame } from "../policy/transition.ts";
import { digest } from "../wire/canonical.ts";
import { sentenceMax, shortPath } from "./output.ts";
import { makeRegulation } from "./regulator.ts";
import { programProblems } from "./programs.ts";
import { defaultPolicyName, loadFrom, sha256, shippedLoader } from "./policy-source.ts";
import { resolve } from "node:path";

const valueDigest = (value: Parameters<typeof digest>[0]): string => digest(value, sha256);

/** An engine whose model also says which parts of the policy can speak of a tool. */
type PolicyEngine = Engine<Q> & { readonly model: PolicyModel };

/** The engine of a policy: permission, flow and sequence over one transition system. */
export function engineOf(frame: Frame, more: readonly SealedMechanism<Q>[] = []): PolicyEngine {
  const model = makeModel(frame, valueDigest);
  const flow = makeFlow<Q>({
    ir: frame.ir,
    contextOf: (q) => contextOf(frame.ir, q),
    unmediatedOf: (q) => unmediated(frame.ir, q),
    grantsOf: (q) => q.grants,
    storeLabels: (q, names) =>
      names.reduce(
        (all, name) => joinRanges(all, storeRange(frame.ir, q, name) ?? all),
        exactly(frame.ir.lattice.bottom),
      ),
    addedLabels: (q, names) => addedRange(frame.ir, q, names),
    hazards: (q, option, at) =>
      hazardReasons("flow", { frame, q, option, at }, model.relevant(option.contract).hazards),
    labelsMatter: (contract) => model.relevant(contract).labels,
    digest: valueDigest,
  });
  const sequence = makeSequence(frame, (contract) => model.relevant(contract).slots);
  return { model, mechanisms: [seal(makeTiers(frame, model)), seal(flow), seal(sequence), ...more] };
}

/** A compiled policy behind the port of the gateway. */
export function loadedPolicy(
  compiled: CompiledPolicy,
  source: string,
  more: readonly SealedMechanism<Q>[] = [],
): LoadedPolicy<Q> {
  const { ir, table, settings } = compiled;
  const frame: Frame = { ir, slots: slotsOf(ir) };
  const plain = engineOf(frame, more);
  const regulation = makeRegulation(compiled, frame, plain.model);
  const mechanisms = [...plain.mechanisms, regulation.mechanism, ...isolationMechanisms(compiled)];
  const engine: PolicyEngine = { ...plain, mechanisms };
  const methods = new Map<string, ToolContract>();
  return {
    digest: compiled.digest,
    canonical: compiled.canonical,
    source,
    engine,
    lattice: ir.lattice,
    settings,
    contractOfTool: (server, listed, toolDigest) =>
      contractOfTool(table, server, listed, toolDigest === undefined ? valueDigest : () => toolDigest),
    contractOfMethod: (server, method) => {
      const key = `${server} ${method}`;
      const known = methods.get(key);
      if (known !== undefined) return known;
      const made = contractOfMethod(table, server, method);
      // A server may invent methods without end; what it makes up is not worth remembering.
      if (methods.size < 1_024) methods.set(key, made);
      return made;
    },
    contractOfHostTool: (client, tool) => contractOfHostTool(table, client, tool),
    isolation: (server) => isolationOrder(compiled, server),
    server: (name) => {
      const facts = serverFacts(table, name);
      return { trusted: facts.trust === "trusted", mode: facts.mode };
    },
    permitsQuestions: (server) => permitsQuestions(ir, server),
    ...regulation.port,
    mayRecordLate: (contract) => engine.model.relevant(contract).leavesNoTrace,
    contextLabel: (q) => contextOf(ir, q).hi,
    describeStores: (q) => describeStores(frame, q),
    describeOwed: (q) => openDebts(frame, q, 0).map((slot) => slot.id),
    sharedChanged,
    withShared,
    topState: () => topState(frame),
    exportShared: (q, former) => exportShared(frame, q, former),
    importShared: (value) => importShared(frame, value),
  };
}

/** Without a section `isolation` nothing is isolated, and nothing waits for evidence. */
function isolationMechanisms(compiled: CompiledPolicy): readonly SealedMechanism<Q>[] {
  const { isolation, ir } = compiled;
  if (isolation === undefined) return [];
  const { orderOf, unjudged, judge } = isolation;
  const settings = { order: orderOf, lattice: ir.lattice, digest: valueDigest, unjudged };
  return [seal(makeProjection(judge === undefined ? settings : { ...settings, judge }))];
}

/** What is left of a message where its remedy is long: enough to say which word it is about. */
const messageUnitsMin = 60;

/** Message and remedy that fit beside a path of any length. */
const remedyUnitsRoomy = 110;

/**
 * One diagnostic as a line: place, sentence, remedy. Too long a message is cut before the way on; a way on that is longer
 * than all that is left is a list of legal words, and loses its end.
 */
export function diagnosticLine(found: Diagnostic): string {
  const long = messageUnitsMin + found.remedy.length > remedyUnitsRoomy;
  const file = long ? shortPath(found.file, 40) : shortPath(found.file);
  const place = found.line === 0 ? file : `${file}:${found.line}:${found.column}`;
  const code = ` [${found.code}]`;
  const room = sentenceMax - place.length - code.length - 4;
  const message = cut(found.message, Math.max(Math.min(messageUnitsMin, room), room - found.remedy.length));
  return `${place}: ${message}: ${cut(found.remedy, room - message.length)}${code}`;
}

function cut(text: string, unitsMax: number): string {
  return text.length <= unitsMax ? text : `${text.slice(0, Math.max(0, unitsMax - 3))}...`;
}

/** Why a document is no policy: its first error, with place and remedy. */
export function whyUnloadable(name: string, diagnostics: readonly Diagnostic[]): string {
  const first = diagnostics.find(({ severity }) => severity === "error");
  return first === undefined
    ? `${shortPath(name)} does not load: \`sluicegate policy check\` says why.`
    : diagnosticLine(first);
}

export type Extra = {
  /** A `labels:` section laid over the policy. */
  readonly labels?: JsonObject | undefined;
  readonly flow?: "strict" | "provenance";
};

/** A policy, and what gives a later finding its place in its documents. */
export type Placed = { readonly policy: CompiledPolicy; readonly place: Loaded["place"] };

/**
 * A compiled policy from a file, the default, or a document of our own; the error is a sentence with place. `noted` gets the
 * files beside a policy file that it is made of. Whether the programs of its rules load is asked apart.
 */
export function placedFrom(
  source: string | undefined | PolicyInput,
  noted?: (file: string) => void,
): Result<Placed, string> {
  if (typeof source === "object")
    return usable(loadPolicy(source, { loader: shippedLoader, hash: sha256 }), source.file);
  const loaded = loadFrom(source, undefined, noted);
  return loaded.ok ? usable(loaded.value, source ?? "default") : loaded;
}

/** The same, for who looks at the policy alone. */
export function compiledFrom(source: string | undefined | PolicyInput): Result<CompiledPolicy, string> {
  const placed = placedFrom(source);
  return placed.ok ? ok(placed.value.policy) : placed;
}

/** A policy file, or the default, with labels and a flow mode laid over it; the error is a sentence with place. */
export function loadPolicyFor(file: string | undefined, extra: Extra = {}): Result<LoadedPolicy<Q>, string> {
  const own = file === defaultPolicyName ? undefined : file;
  const name = own === undefined ? defaultPolicyName : resolve(own);
  const over = extra.labels !== undefined || extra.flow !== undefined;
  const document = {
    version: 1,
    extends: [name],
    ...(extra.labels === undefined ? {} : { labels: extra.labels }),
    ...(extra.flow === undefined ? {} : { flow: { mode: extra.flow } }),
  };
  // What came from outside is checked by the loader itself; the type only says what it is meant to be.
  const input = { file: `${name} (with a trace)`, document: document as unknown as PolicyDocument };
  const placed = placedFrom(over ? input : own);
  if (!placed.ok) return placed;
  const { policy } = placed.value;
  const silent = firstSentence(placed.value, programProblems(policy));
  return silent === undefined ? ok(loadedPolicy(policy, name)) : err(silent);
}

/** The first of some findings as a line; undefined where there is none. */
export function firstSentence({ place }: Placed, [first]: readonly Problem[]): string | undefined {
  return first === undefined ? undefined : diagnosticLine(place(first));
}

function usable({ policy, diagnostics, place }: Loaded, source: string): Result<Placed, string> {
  if (policy !== undefined) return ok({ policy, place });
  return err(whyUnloadable(source, diagnostics));
}
