/** Admission of what a server says of itself (gateway.md 2): its strings may be read by a model only once admitted. */
import type { ToolContract } from "../core/contract.ts";
import { decidingCodes } from "../core/render.ts";
import type { Admission } from "./admissions.ts";
import { isObserved, notesOf } from "./call.ts";
import type { ListState } from "./catalogue.ts";
import { appendBatch, Batch } from "./journal.ts";
import { judge } from "./judge.ts";
import type { LiveRun } from "./live-run.ts";
import type { Scene } from "./scene.ts";

export type AdmitQuery = {
  readonly state: Pick<ListState, "digest">;
  readonly contracts: readonly ToolContract[];
};

/**
 * Decides a manifest once for each (server, manifest, policy). Deny and confirm quarantine it: nothing of it is listed
 * or callable until the operator changes the policy or the pin.
 */
export function admitList<Q>(
  scene: Scene<Q>,
  live: LiveRun<Q>,
  { state, contracts }: AdmitQuery,
): Admission | Promise<Admission> {
  const { policy } = live;
  const key = { server: scene.server, manifestDigest: state.digest, policyDigest: policy.digest };
  const known = scene.admissions.find(key.server, key.manifestDigest, key.policyDigest);
  if (known !== undefined) return known;
  const at = scene.services.clock.monotonicMs();
  const moment = { kind: "admit", at, server: scene.server, manifestDigest: state.digest, contracts } as const;
  return judge(live, scene.services.oracle, moment, (decision, answers) => {
    const observed = isObserved(live, scene.server);
    const id = scene.nextId();
    const connected = observed || decision.verdict === "allow";
    const admission: Admission = connected ? { kind: "connected" } : { kind: "quarantined", decision: id };
    scene.admissions.record(key, admission);
    if (!connected || decision.unobserved !== "allow") {
      const batch = new Batch<Q>();
      batch.parts.push({ live, events: [] });
      const notes = { ...notesOf(id, decision, observed), moment: "admit", server: scene.server };
      void appendBatch(scene.services.log, batch, { decision, answers, notes, manifestDigest: state.digest });
    }
    if (!connected) {
      const codes = decidingCodes(decision).join(", ");
      scene.services.human.notify(
        `Server \`${scene.server}\` is quarantined (${codes}): its tools are hidden. See decision ${id}.`.slice(0, 240),
      );
    }
    return admission;
  });
}
