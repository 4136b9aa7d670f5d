/** Conversations and families of runs that outlive processes and gateways: what tests of them say and look at. */
import type { Opinion } from "../../../src/core/opinion.ts";
import type { HostFacts } from "../../../src/gateway/session/gateway.ts";
import type { FakeLog } from "./fake-log.ts";
import { type FakeMechanism, type FakeState, fakePolicy, fakeState, lattice } from "./fake-policy.ts";
import { Stage } from "./playbook.ts";

/** Who holds a secret neither sends nor fetches; `end_it` is where the policy ends the run. */
export const rules: FakeMechanism = {
  consider: ({ moment }, run): Opinion => {
    const tool = moment.kind === "call" ? moment.contract.tool : "";
    const sends = tool === "WebFetch" || tool === "send_mail";
    const verdict = (sends && fakeState(run.q).held === lattice.top) || tool === "end_it" ? "deny" : "allow";
    const reason = { mechanism: "fake", code: "SG-TEST", verdict, facts: {} } as const;
    const obligations = tool === "end_it" ? [{ kind: "end-run", rule: "regulation" } as const] : [];
    return { kind: "settled", verdict, reasons: verdict === "allow" ? [] : [reason], obligations };
  },
};

export const who = (pid: number, session = "talk", principal = "os:1000"): HostFacts => {
  return { client: "claude", principal, process: { pid, startedAt: "1" }, session };
};

export async function restarted(log: FakeLog): Promise<Stage> {
  const stage = new Stage({ policy: fakePolicy([rules]), log });
  await stage.gateway.restore();
  return stage;
}

export async function read({ gateway }: Stage, facts: HostFacts, tool = "read_secret"): Promise<void> {
  const use = { tool, arguments: { path: "/k" } };
  await gateway.hostEvent(facts, { kind: "before-tool", ...use });
  await gateway.hostEvent(facts, { kind: "after-tool", ...use, result: { content: "key" }, failed: false });
}

export const tell = ({ gateway }: Stage, facts: HostFacts, kind: "session-start" | "session-clear" | "session-end") =>
  gateway.hostEvent(facts, { kind });

export async function fetches({ gateway }: Stage, facts: HostFacts): Promise<string> {
  return (await gateway.hostEvent(facts, { kind: "before-tool", tool: "WebFetch", arguments: {} })).verdict;
}

export function stateOf({ gateway }: Stage, key: string): FakeState | undefined {
  const live = gateway.runs.find(key);
  return live === undefined ? undefined : fakeState(live.state.q);
}
