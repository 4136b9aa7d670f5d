/**
 * Restrictions other than rules that are milder in another policy: modes, hazards, the host and regulation. They cannot
 * be expressed as hazards of the other policy, so they are compared as text.
 */
import type { CanonicalPolicy } from "../../policy/canonical/policy-document.ts";
import type { HazardForm } from "../../policy/document/long-form.ts";
import { openNames, type HostCapability } from "../../policy/sections/host.ts";
import type { CompiledPolicy } from "../../policy/compile/compile.ts";
import { atLeastAsStrict } from "../../core/verdict.ts";
import type { FilterMode, Lease, Regulation } from "../../policy/sections/regulation.ts";

/** One line for each part that stops or asks less than before; none where the old policy only observed. */
export function relaxed(old: CompiledPolicy, present: CompiledPolicy): readonly string[] {
  if (old.policy.mode === "observe") return [];
  return [
    ...relaxedModes(old.policy, present.policy),
    ...relaxedHazards(old.policy, present.policy),
    ...relaxedHost(old.policy.host, present.policy.host),
    ...otherSections(old.policy, present.policy),
    ...relaxedRegulation(old.regulation, present.regulation).map((part) => `regulation: ${part}`),
  ];
}

function relaxedModes(old: CanonicalPolicy, present: CanonicalPolicy): readonly string[] {
  const servers = Object.entries(present.servers).flatMap(([name, { mode }]) => {
    const before = Object.hasOwn(old.servers, name) ? old.servers[name]?.mode : undefined;
    return mode === "observe" && before !== "observe" ? [`server ${name}: it is only observed`] : [];
  });
  return [...(present.mode === "observe" ? ["mode: everything is only observed"] : []), ...servers];
}

/** A hazard refuses its own calls, whether rules stop them or not. */
function relaxedHazards(old: CanonicalPolicy, present: CanonicalPolicy): readonly string[] {
  return Object.entries(old.hazards).flatMap(([id, hazard]) => {
    if (hazard.mode === "observe") return [];
    const now = Object.hasOwn(present.hazards, id) ? present.hazards[id] : undefined;
    const accepted = present.accepts.includes(id) && !old.accepts.includes(id);
    const how = weakened(hazard, now) ?? (accepted ? "it is accepted" : undefined);
    return how === undefined ? [] : [`hazard ${id}: ${how}`];
  });
}

function weakened(old: HazardForm, now: HazardForm | undefined): string | undefined {
  if (now === undefined) return "it is gone";
  if (now.mode === "observe") return "it is only observed";
  if (JSON.stringify(now.never) !== JSON.stringify(old.never)) return "it says something else";
  return old.consent === "never" && now.consent === "may" ? "it asks where it refused" : undefined;
}

/** Regulation considers the declared moves of the client only, so removing one from `host:` makes it milder. */
function relaxedHost(old: CanonicalPolicy["host"], present: CanonicalPolicy["host"]): readonly string[] {
  const covers = (now: HostCapability, before: HostCapability): boolean => {
    if (before === "gated" || now === "open") return true;
    if (before === "open" || now === "gated") return false;
    return openNames(before).every((name) => openNames(now).includes(name));
  };
  return (["send", "read", "execute"] as const).flatMap((power) =>
    covers(present[power], old[power]) ? [] : [`host: the client is believed to ${power} less by itself`],
  );
}

/** These sections are enforced outside of the rules; whether a change is milder is not computed here. */
function otherSections(old: CanonicalPolicy, present: CanonicalPolicy): readonly string[] {
  return (["admission", "isolation", "reflection"] as const).flatMap((section) =>
    old[section] === undefined || JSON.stringify(old[section]) === JSON.stringify(present[section])
      ? []
      : [`${section}: it is gone, or says something else`],
  );
}

const unsafe = { confirm: 0, "block-call": 1, "end-run": 2 } as const;

function relaxedRegulation(old: Regulation, present: Regulation): readonly string[] {
  const kept = new Set(present.leases.map(leaseText));
  const leases = old.leases.map(leaseText).filter((lease) => !kept.has(lease));
  const firm = ({ keeps }: Regulation): readonly string[] =>
    keeps.flatMap((keep) => (keep.firm ? [keep.tools.map(({ server, tool }) => `${server}.${tool}`).join(" ")] : []));
  const keeps = firm(old).filter((keep) => !firm(present).includes(keep));
  const asked = old.models.embedded || old.models.judge !== undefined;
  const { power } = present;
  // A policy is read back from its canonical text, so equal weights stand in one order.
  const weights = (of: Regulation): string => JSON.stringify([...of.power.weights]);
  const budget = old.power.budget !== undefined && (power.budget === undefined || power.budget > old.power.budget);
  const weighed = old.power.budget !== undefined && weights(old) !== weights(present);
  const models =
    (old.models.embedded && !present.models.embedded) ||
    (old.models.judge !== undefined && old.models.judge !== present.models.judge);
  const milder =
    asked &&
    (present.epsilon > old.epsilon ||
      present.surpriseMax > old.surpriseMax ||
      unsafe[present.onUnsafe] < unsafe[old.onUnsafe] ||
      (old.judged === "all" && present.judged === "acts") ||
      !atLeastAsStrict(present.onSilence.acts, old.onSilence.acts) ||
      !atLeastAsStrict(present.onSilence.reads, old.onSilence.reads));
  return [
    ...leases.map((lease) => `a lease is gone or changed, ${lease}`),
    ...keeps.map((keep) => `a firm keep is gone or changed, ${keep}`),
    ...(staysAway(present.filter) < staysAway(old.filter) ? ["tools that were hidden come back sooner"] : []),
    ...(budget || weighed ? ["more power passes without a question"] : []),
    ...(models ? ["a model is not asked any more"] : []),
    ...(milder ? ["what models say does less"] : []),
  ];
}

function leaseText({ tools, callsMax, forMs }: Lease): string {
  const names = tools.map(({ server, tool }) => `${server}.${tool}`).join(" ");
  return [names, callsMax === undefined ? "" : `${callsMax} calls`, forMs === undefined ? "" : `${forMs} ms`]
    .filter((part) => part !== "")
    .join(", ");
}

/** Milliseconds for which a tool stays hidden after the state allows it again. */
function staysAway(filter: FilterMode): number {
  if (filter.kind === "replace") return 0;
  return filter.kind === "lease" ? filter.ttlMs : Number.POSITIVE_INFINITY;
}
