/** Admission of what a server says of itself (gateway.md 2): its strings may be read by a model only once admitted. */
import type { ToolContract } from "../core/contract.ts";
import { decidingCodes } from "../core/render.ts";
import type { Admission } from "./admissions.ts";
import { isObserved, notesOf } from "./call.ts";
import type { ListState } from "./catalogue.ts";
import { appendBatch, Batch } from "./journal.ts";
import { judge } from "./judge.ts";
import type { LiveRun } from "./live-run.ts";
import type { Quarantine } from "./quarantine.ts";
import { quarantine, released } from "./quarantine.ts";
import type { Scene } from "./scene.ts";

export type AdmitQuery = {
  readonly state: Pick<ListState, "digest">;
  readonly contracts: readonly ToolContract[];
  /** A list method, or `instructions`. */
  readonly what: string;
};

/**
 * Decides a manifest once for each (server, manifest, policy). Deny and confirm quarantine it: nothing of it is listed
 * or callable. A deny stays until policy or manifest change; a confirm until the operator approves.
 */
export function admitList<Q>(
  scene: Scene<Q>,
  live: LiveRun<Q>,
  { state, contracts, what }: AdmitQuery,
): Admission | Promise<Admission> {
  const key = { server: scene.server, manifestDigest: state.digest, policyDigest: live.policy.digest };
  const known = scene.admissions.find(key);
  const subject = { scene, live, key, what, contracts };
  if (known === undefined) return judged(subject, (lookUp) => scene.admissions.once(key, lookUp));
  if (known.kind === "connected" || known.approval === undefined) return known;
  return scene.admissions.once(key, async () => (await released(subject, known)) ?? judged(subject, (ask) => ask()));
}

/** `asking` runs the question to the operator, once for all who wait; whoever is inside of that already runs it plainly. */
function judged<Q>(
  subject: Quarantine<Q>,
  asking: (lookUp: () => Promise<Admission>) => Promise<Admission>,
): Admission | Promise<Admission> {
  const { scene, live, key, contracts } = subject;
  const at = scene.services.clock.monotonicMs();
  const { server, manifestDigest } = key;
  const moment = { kind: "admit", at, server, manifestDigest, contracts } as const;
  const found = judge<Q, Admission | Promise<Admission>>(live, scene.services, moment, (decision, answers) => {
    const observed = isObserved(live, server);
    const id = scene.nextId();
    const connected = observed || decision.verdict === "allow";
    if (!connected || decision.unobserved !== "allow") {
      const batch = new Batch<Q>();
      batch.parts.push({ live, events: [] });
      const notes = { ...notesOf(id, decision, observed), moment: "admit", server };
      void appendBatch(scene.services.log, batch, { decision, answers, notes, manifestDigest });
    }
    if (!connected && decision.verdict === "confirm") {
      return asking(() => quarantine(subject, decision, id));
    }
    const admission: Admission = connected ? { kind: "connected" } : { kind: "quarantined", decision: id };
    scene.admissions.record(key, admission);
    if (!connected) {
      const codes = decidingCodes(decision).join(", ");
      scene.services.human.notify(
        `Server \`${server}\` is quarantined (${codes}): its tools are hidden. See decision ${id}.`.slice(0, 240),
      );
    }
    return admission;
  });
  return found instanceof Promise ? found.then((one) => one) : found;
}
