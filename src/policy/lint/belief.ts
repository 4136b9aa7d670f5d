/**
 * The four sources of belief about a tool in words (lifecycle.md 1.6): what is declared, inferred, observed and enforced,
 * and what comes of it while the process of its server is enclosed.
 */
import type { LabelSource, ToolContract } from "../../core/contract.ts";
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import { type Effect, everyEffect } from "../../core/effect.ts";
import type { CompiledPolicy } from "../compile/compile.ts";
import { type ToolSubject, contractOfTool, evidenceOf } from "../contracts/contracts.ts";
import type { Evidence } from "../contracts/statements.ts";
import { type WayOut, enclosedProcess, waysOut } from "../isolation/enclosed.ts";
import { withProcess } from "../ir/label-table.ts";

/** One sentence for each source, without the name of the source. */
export type BeliefSources = {
  readonly declared: string;
  readonly inferred: string;
  readonly observed: string;
  readonly enforced: string;
};

export type ToolBelief = {
  readonly sources: BeliefSources;
  /** The contract while the process is enclosed; undefined where its order leaves it a way out. */
  readonly enclosed: ToolContract | undefined;
};

export function beliefOf(policy: CompiledPolicy, subject: ToolSubject): ToolBelief {
  const evidence = evidenceOf(policy.table, subject);
  const out = policy.isolation === undefined ? undefined : waysOut(policy.isolation, subject.server);
  return {
    sources: {
      declared: declaredText(evidence),
      inferred: inferredText(evidence),
      observed: "Nothing yet: no probe and no recorded call counts for a tool.",
      enforced: enforcedText(out, policy.isolation?.orderOf(subject.server).mode),
    },
    enclosed: out?.length === 0 ? enclosedContract(policy, subject) : undefined,
  };
}

function enclosedContract(policy: CompiledPolicy, { server, listed, toolDigest = "" }: ToolSubject): ToolContract {
  const order = policy.isolation?.orderOf(server).digest ?? "";
  const table = withProcess(policy.table, server, enclosedProcess(policy.isolation, server, { tier: "A", order }));
  return contractOfTool(table, server, listed, () => toolDigest);
}

const authority: { readonly [source in LabelSource]?: string } = {
  operator: "your policy",
  pack: "a label pack",
  card: "an accepted card",
};

function declaredText({ believed, shipped }: Evidence): string {
  const stated = believed.flatMap(({ source, statement: { effects } }) =>
    effects === undefined ? [] : [`${authority[source] ?? source} says ${effectsText(effects.may)}`],
  );
  const own = shipped?.effects === undefined ? [] : [`its server says ${effectsText(shipped.effects.may)}`];
  const all = [...stated, ...own];
  return all.length === 0 ? "Nobody says what it does." : sentence(all.join("; "));
}

function inferredText({ inferred: { may, because } }: Evidence): string {
  if (because.length === 0) return "Nothing in its words says what it does.";
  return sentence(`${effectsText(may)}, from ${because.join(", ")}`);
}

/** One sentence: what encloses the process, or why nothing does, what hinders it, and what would. */
function enforcedText(out: readonly WayOut[] | undefined, mode: IsolationOrder["mode"] | undefined): string {
  if (out === undefined) return "Nothing: the policy has no section `isolation`.";
  if (out.length === 0) {
    const bare = mode === "where-possible" ? "; where it runs bare, nothing is enforced" : "";
    return `In tiers A and A- its process has no way out: it reads, writes and runs inside, and others see none of its arguments${bare}.`;
  }
  const why = out.map((way) => way.why).join(", and ");
  return `Nothing, since ${why}; to enclose it, ${out.map(({ wayOn }) => wayOn).join(", and ")}.`;
}

/** Effects in one phrase; the list of all of them says nothing. */
export function effectsText(may: readonly Effect[]): string {
  return may.length >= everyEffect.length ? "anything" : may.join(", ") || "nothing";
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}
