/** Puts a compiled policy together with the mechanisms it needs: the policy as the gateway uses it. */
import type { RunningProcess, ToolContract } from "../../core/contract.ts";
import { exactly, joinRanges } from "../../core/label.ts";
import { seal, type Engine, type SealedMechanism } from "../../core/mechanism.ts";
import type { LoadedPolicy } from "../../gateway/ports/policy.ts";
import { makeFlow } from "../../mechanisms/flow/flow.ts";
import { makeProjection } from "../../mechanisms/projection/projection.ts";
import { makeSequence, openDebts } from "../../mechanisms/sequence/sequence.ts";
import { makeTiers } from "../../mechanisms/tiers/tiers.ts";
import type { CompiledPolicy } from "../../policy/compile/compile.ts";
import { contractOfTool, isLabelled, isPinned } from "../../policy/contracts/contracts.ts";
import { contractOfHostTool, contractOfMethod } from "../../policy/contracts/methods.ts";
import { type LabelTable, serverFacts, withProcess } from "../../policy/ir/label-table.ts";
import { hazardReasons } from "../../policy/semantics/explanations.ts";
import { enclosedProcess } from "../../policy/isolation/enclosed.ts";
import { isolationOrder } from "../../policy/ir/isolation-order.ts";
import { type PolicyModel, makeModel } from "../../policy/semantics/model.ts";
import { owedCalls } from "../../policy/semantics/compensation.ts";
import { type Slot, patternsOf, slotsOf } from "../../policy/semantics/monitors.ts";
import {
  describeStores,
  exportShared,
  importShared,
  sharedChanged,
  topState,
  withShared,
} from "../../policy/semantics/shared-state.ts";
import { permitsQuestions } from "../../policy/semantics/questions.ts";
import { addedRange, contextOf, storeRange, unmediated, stateOf } from "../../policy/semantics/state.ts";
import type { Frame } from "../../policy/semantics/transition.ts";
import { digest } from "../../wire/canonical.ts";
import { findingsOf } from "./list-findings.ts";
import { readValue } from "./argument-reader.ts";
import { makeRegulation } from "./regulator.ts";
import { sha256 } from "./policy-source.ts";

const valueDigest = (value: Parameters<typeof digest>[0]): string => digest(value, sha256);

/** An engine whose model also says which parts of the policy can speak of a tool. */
type PolicyEngine = Engine & { readonly model: PolicyModel };

/** The engine of a policy: permission, flow and sequence over one transition system. */
export function engineOf(frame: Frame, more: readonly SealedMechanism[] = []): PolicyEngine {
  const model = makeModel(frame, valueDigest);
  const flow = makeFlow({
    ir: frame.ir,
    contextOf: (q) => contextOf(frame.ir, stateOf(q)),
    unmediatedOf: (q) => unmediated(frame.ir, stateOf(q)),
    grantsOf: (q) => stateOf(q).grants,
    storeLabels: (q, names) =>
      names.reduce(
        (all, name) => joinRanges(all, storeRange(frame.ir, stateOf(q), name) ?? all),
        exactly(frame.ir.lattice.bottom),
      ),
    addedLabels: (q, names) => addedRange(frame.ir, stateOf(q), names),
    hazards: (q, option, at) =>
      hazardReasons("flow", { frame, q: stateOf(q), option, at }, model.relevant(option.contract).hazards),
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
  more: readonly SealedMechanism[] = [],
): LoadedPolicy {
  const { ir, table, settings } = compiled;
  const frame: Frame = { ir, slots: slotsOf(ir), read: readValue };
  const plain = engineOf(frame, more);
  const regulation = makeRegulation(compiled, frame, plain.model);
  const mechanisms = [...plain.mechanisms, regulation.mechanism, ...isolationMechanisms(compiled)];
  const engine: PolicyEngine = { ...plain, mechanisms };
  const methods = new Map<string, ToolContract>();
  const tableFor = (server: string, running: RunningProcess | undefined): LabelTable =>
    withProcess(table, server, enclosedProcess(compiled.isolation, server, running));
  return {
    digest: compiled.digest,
    canonical: compiled.canonical,
    source,
    engine,
    lattice: ir.lattice,
    settings,
    contractOfTool: (server, listed, toolDigest, running) =>
      contractOfTool(
        tableFor(server, running),
        server,
        listed,
        toolDigest === undefined ? valueDigest : () => toolDigest,
      ),
    contractOfMethod: (server, method, running) => {
      const key = `${running?.tier ?? ""} ${running?.order ?? ""} ${server} ${method}`;
      const known = methods.get(key);
      if (known !== undefined) return known;
      const made = contractOfMethod(tableFor(server, running), server, method);
      // A server may invent methods without end; what it makes up is not worth remembering.
      if (methods.size < 1_024) methods.set(key, made);
      return made;
    },
    contractOfHostTool: (client, tool) => contractOfHostTool(table, client, tool),
    isolation: (server) => isolationOrder(compiled, server),
    server: (name) => {
      const facts = serverFacts(table, name);
      return { trusted: facts.trust === "trusted", labelled: isLabelled(table, name), mode: facts.mode };
    },
    pinned: (server, tool, toolDigest) => isPinned(table, { server, tool, toolDigest }),
    findings: findingsOf,
    permitsQuestions: (server) => permitsQuestions(ir, server),
    ...regulation.port,
    looksBackAtStores: ir.stores.length > 0 && frame.slots.some(looksAtState),
    mayRecordLate: (contract) => engine.model.relevant(contract).leavesNoTrace,
    contextLabel: (q) => contextOf(ir, stateOf(q)).hi,
    describeStores: (q) => describeStores(frame, stateOf(q)),
    describeOwed: (q) => openDebts(frame, stateOf(q), 0).map((slot) => slot.id),
    owedCalls: (q) => owedCalls(frame.slots, stateOf(q)),
    sharedChanged: (before, after) => sharedChanged(stateOf(before), stateOf(after)),
    withShared: (q, shared) => withShared(stateOf(q), stateOf(shared)),
    topState: (known) => topState(frame, known === undefined ? undefined : stateOf(known)),
    exportShared: (q, former) => exportShared(frame, stateOf(q), former),
    importShared: (value) => importShared(frame, value),
  };
}

/** A rule over time looks at what runs hold or at stores; what a run holds includes what it may read of stores. */
function looksAtState({ temporal }: Slot): boolean {
  return patternsOf(temporal).some(({ held, stores }) => held !== undefined || stores.length > 0);
}

/** Without a section `isolation` nothing is isolated, and nothing waits for evidence. */
function isolationMechanisms(compiled: CompiledPolicy): readonly SealedMechanism[] {
  const { isolation, ir } = compiled;
  if (isolation === undefined) return [];
  const { orderOf, unjudged, judge } = isolation;
  const settings = { order: orderOf, lattice: ir.lattice, digest: valueDigest, unjudged };
  return [seal(makeProjection(judge === undefined ? settings : { ...settings, judge }))];
}
