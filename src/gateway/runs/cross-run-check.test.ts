// Several runs of one owner share stores and channels: a change must be fine for each of them (formal.md 4.5, example 7).
import { describe, expect, it, vi } from "vitest";
import { reasonsMax } from "../../core/limits.ts";
import type { Verdict } from "../../core/verdict.ts";
import { FakeLog } from "../../../test/kit/gateway/fake-log.ts";
import {
  type FakeState,
  type PolicyChanges,
  fakePolicy,
  fakeState,
  lattice,
} from "../../../test/kit/gateway/fake-policy.ts";
import { type FakeClient, Stage } from "../../../test/kit/gateway/playbook.ts";
import { approvalIn, callTool } from "../../../test/kit/gateway/served.ts";
import type { LoadedPolicy } from "../ports/policy.ts";
import { ruleApproval } from "../consent/approvals.ts";
import { resumeMsMax } from "../ports/limits.ts";

/** `write_store` opens what all runs share; a run that holds secrets, or is at its worst, must not be under that. */
function policy(verdict: Verdict = "deny", more: PolicyChanges = {}): LoadedPolicy {
  return fakePolicy([], {
    regulation: {
      sharedVerdict: (moved, state) => {
        const other = fakeState(state);
        const harmed =
          fakeState(moved).shared > 0 &&
          other.held !== lattice.bottom &&
          !other.risks.includes("leak fire store anyone");
        const reason = {
          mechanism: "fake",
          code: "SG-OTHER-RUN",
          verdict,
          facts: { moves: ["fire store anyone"], risks: ["leak fire store anyone"] },
        } as const;
        return harmed ? { verdict, reason } : { verdict: "allow", reason: undefined };
      },
    },
    ...more,
  });
}

function second(stage: Stage, pid = 8): FakeClient {
  return stage.connect({ process: { pid, startedAt: "1" } });
}

describe("a call that changes what runs share", () => {
  it("is refused while another run holds what it would expose, and says so", async () => {
    const stage = new Stage({ policy: policy() });
    await callTool(stage, stage.client, "read_secret");
    const refused = await callTool(stage, second(stage), "write_store");
    expect(refused.text).toMatch(/^Not executed: another open run holds data, and after `files.write_store` `anyone`/);
    const key = [...stage.gateway.runs.all()][0]?.key;
    expect(refused.text).toContain("reads `store` unasked. Ask the user to end that run");
    expect(refused.text).toContain(`\`sluicegate runs close ${key}\``);
    expect(stage.log.events().filter(({ kind }) => kind === "refused")).toMatchObject([{ codes: ["SG-OTHER-RUN"] }]);
  });

  it("is allowed once the other run has ended, and where the other holds nothing", async () => {
    const stage = new Stage({ policy: policy() });
    await callTool(stage, stage.client, "read_secret");
    const [first] = [...stage.gateway.runs.all()];
    if (first !== undefined) await stage.gateway.runs.end(first, "closed");
    expect((await callTool(stage, second(stage), "write_store")).refused).toBe(false);
    const other = new Stage({ policy: policy() });
    await callTool(other, other.client, "read_file");
    expect((await callTool(other, second(other), "write_store")).refused).toBe(false);
  });

  it("does not concern runs of another owner, a run itself, or calls that share nothing", async () => {
    const stage = new Stage({ policy: policy() });
    await callTool(stage, stage.client, "read_secret");
    expect((await callTool(stage, stage.client, "write_store")).refused).toBe(false);
    const fresh = new Stage({ policy: policy() });
    await callTool(fresh, fresh.client, "read_secret");
    expect((await callTool(fresh, second(fresh), "send_mail")).refused).toBe(false);
    const stranger = fresh.connect({ principal: "os:1001", process: { pid: 9, startedAt: "1" } });
    expect((await callTool(fresh, stranger, "write_store")).refused).toBe(false);
  });

  it("is asked about where a person may accept it, and the other run keeps the risk", async () => {
    const stage = new Stage({ policy: policy("confirm") });
    await callTool(stage, stage.client, "read_secret");
    const client = second(stage);
    const asked = await callTool(stage, client, "write_store");
    const id = approvalIn(asked);
    const lines = JSON.parse(new TextDecoder().decode(stage.log.approvals.get(id)?.card)).lines as string[];
    const key = [...stage.gateway.runs.all()][0]?.key;
    expect(lines[0]).toContain(
      `\`fire store anyone\` (\`anyone\` reads \`store\`) may cause hazard \`leak\` in run \`${key}\``,
    );
    await ruleApproval(stage.log.port, stage.clock, { id, choice: "once", by: "alice", role: "operator" });
    expect((await callTool(stage, client, "write_store")).refused).toBe(false);
    const [one, two] = [...stage.gateway.runs.all()];
    expect(one?.state.q).toMatchObject({ risks: ["leak fire store anyone"] });
    expect(two?.state.q).toMatchObject({ risks: [] });
    expect((await callTool(stage, client, "write_store")).refused).toBe(false);
  });

  it("a consent covers no run that came up since: its own risk is asked about anew", async () => {
    const stage = new Stage({ policy: policy("confirm") });
    await callTool(stage, stage.client, "read_secret");
    const client = second(stage);
    const id = approvalIn(await callTool(stage, client, "write_store"));
    await callTool(stage, second(stage, 9), "read_secret");
    await ruleApproval(stage.log.port, stage.clock, { id, choice: "once", by: "alice", role: "operator" });
    const again = await callTool(stage, client, "write_store");
    expect(again.refused).toBe(true);
    expect([...stage.gateway.runs.all()].flatMap(({ state }) => fakeState(state.q).risks)).toEqual([]);
    const both = { id: approvalIn(again), choice: "once", by: "alice", role: "operator" } as const;
    await ruleApproval(stage.log.port, stage.clock, both);
    expect((await callTool(stage, client, "write_store")).refused).toBe(false);
    const accepted = [...stage.gateway.runs.all()].map(({ state }) => fakeState(state.q).risks.length);
    expect(accepted).toEqual([1, 0, 1]);
  });

  it("is refused where a card could not name every run that a consent would be for", async () => {
    const stage = new Stage({ policy: policy("confirm") });
    for (let pid = 100; pid <= 100 + reasonsMax; pid += 1) {
      await callTool(stage, second(stage, pid), "read_secret");
    }
    const refused = await callTool(stage, second(stage), "write_store");
    expect(refused.text).toMatch(/^Not executed: another open run holds data/);
    expect(refused.text).not.toContain("sluicegate approve");
    expect(stage.log.approvals.size).toBe(0);
  });

  it("offers no command with a key that a shell would not take for one word", async () => {
    const stage = new Stage({ policy: policy() });
    const odd = stage.connect({ process: { pid: 7, startedAt: "$(reboot)" } });
    await callTool(stage, odd, "read_secret");
    const refused = await callTool(stage, second(stage), "write_store");
    expect(refused.text).toContain("(`sluicegate runs` lists them)");
    expect(refused.text).not.toContain("reboot");
  });

  it("another policy sees the shared part through its own eyes", async () => {
    const stage = new Stage({ policy: policy("deny", { digest: "policy-a" }) });
    await callTool(stage, stage.client, "read_secret");
    stage.policy = policy("deny", { digest: "policy-b" });
    expect((await callTool(stage, second(stage), "write_store")).refused).toBe(true);
  });

  it("another policy sees its own stores as they are, not as it declares them", async () => {
    const seen: number[] = [];
    const blind = policy("deny", { digest: "policy-2" });
    const other: LoadedPolicy = {
      ...blind,
      importShared: (value) => {
        const read = blind.importShared(value);
        return read === undefined ? undefined : { ...fakeState(read), shared: 0 };
      },
      sharedVerdict: (moved) => {
        seen.push(fakeState(moved).shared);
        return { verdict: "allow", reason: undefined };
      },
    };
    const stage = new Stage({ policy: policy() });
    await callTool(stage, stage.client, "read_file");
    const [live] = [...stage.gateway.runs.all()];
    if (live !== undefined) {
      live.policy = other;
      const q: FakeState = { ...fakeState(live.state.q), shared: 7 };
      live.state = { ...live.state, q };
    }
    await callTool(stage, second(stage), "write_store");
    expect(seen).toEqual([7]);
  });

  it("observing refuses nothing, and the record says what would have been", async () => {
    const stage = new Stage({ policy: policy("deny", { settings: { mode: "observe" } }) });
    await callTool(stage, stage.client, "read_secret");
    expect((await callTool(stage, second(stage), "write_store")).refused).toBe(false);
    expect(stage.log.entries.some(({ notes }) => notes?.["wouldHaveBeenStopped"] === "deny")).toBe(true);
  });
});

describe("runs that nobody has taken up since a restart", () => {
  async function restarted(hours = 0): Promise<{ stage: Stage; log: FakeLog }> {
    const log = new FakeLog();
    const before = new Stage({ policy: policy(), log });
    await callTool(before, before.client, "read_secret");
    const stage = new Stage({ policy: policy(), log });
    stage.clock.now += hours * 3_600_000;
    await stage.gateway.restore();
    return { stage, log };
  }

  it("count as live until they are closed", async () => {
    const { stage, log } = await restarted();
    const client = second(stage);
    expect((await callTool(stage, client, "write_store")).refused).toBe(true);
    const [key] = stage.gateway.runs.dormant.all().map((one) => one.key);
    expect(await stage.gateway.runs.endDormant(key ?? "", "closed")).toBe(true);
    expect(await stage.gateway.runs.endDormant(key ?? "", "closed")).toBe(false);
    expect(log.kinds(key).at(-1)).toBe("ended");
    expect((await callTool(stage, client, "write_store")).refused).toBe(false);
  });

  it("count as live until they were idle for too long", async () => {
    const { stage } = await restarted(9);
    const client = second(stage);
    expect((await callTool(stage, client, "write_store")).refused).toBe(true);
    await stage.gateway.expire();
    expect((await callTool(stage, client, "write_store")).refused).toBe(false);
  });

  it("speak for themselves once they are taken up", async () => {
    const { stage } = await restarted();
    await callTool(stage, stage.client, "read_file");
    expect(stage.gateway.runs.dormant.all()).toEqual([]);
    expect((await callTool(stage, second(stage), "write_store")).refused).toBe(true);
  });

  it("hold what a child of theirs read since, also when that has ended", async () => {
    const log = new FakeLog();
    const before = new Stage({ policy: policy(), log });
    const parent = await before.gateway.beginRun({ principal: "os:1000", urlBase: "" });
    const above = parent.ok ? { parent: parent.value.run } : {};
    const child = await before.gateway.beginRun({ principal: "os:1000", urlBase: "", ...above });
    const stage = new Stage({ policy: policy(), log });
    await stage.gateway.restore();
    await stage.gateway.runs.dormant.prepare("os:1000", stage.policy);
    const client = stage.connect({ transport: "http", runToken: child.ok ? child.value.token : "" });
    await callTool(stage, client, "read_secret");
    const live = stage.gateway.runs.find(child.ok ? child.value.run : "");
    if (live !== undefined) await stage.gateway.runs.end(live, "closed");
    expect(stage.gateway.runs.dormant.all().map(({ key }) => key)).toEqual(parent.ok ? [parent.value.run] : []);
    expect((await callTool(stage, second(stage), "write_store")).text).toContain(parent.ok ? parent.value.run : "none");
    const other = stage.gateway.runs.dormant.of("os:1000", stage.policy)[0];
    expect(other?.q).toMatchObject({ held: lattice.top, top: false });
  });

  it("hold anything where folding what they did takes too long", async () => {
    const { stage } = await restarted();
    const { clock } = stage;
    const evolving = stage.policy.engine.model;
    const slow = {
      ...evolving,
      next: (...given: Parameters<typeof evolving.next>) => {
        clock.now += resumeMsMax + 1;
        return evolving.next(...given);
      },
    };
    stage.policy = { ...stage.policy, engine: { ...stage.policy.engine, model: slow } };
    await stage.gateway.runs.dormant.prepare("os:1000", stage.policy);
    const [one] = stage.gateway.runs.dormant.of("os:1000", stage.policy);
    expect(one?.q).toEqual(stage.policy.topState());
  });

  it("B14: are read from the store once, for all who need to know them", async () => {
    const log = new FakeLog();
    const read = vi.spyOn(log.port.store, "openRuns");
    await new Stage({ policy: policy(), log }).gateway.restore();
    expect(read).toHaveBeenCalledTimes(1);
  });

  it("hold anything where the store does not say which they are", async () => {
    const log = new FakeLog();
    log.port.store.openRuns = async () => ({ ok: false, error: { kind: "closed", place: "", sentence: "" } });
    const stage = new Stage({ policy: policy(), log });
    await stage.gateway.restore();
    expect((await callTool(stage, stage.client, "write_store")).refused).toBe(true);
  });
});
