import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import type { Opinion, Reason } from "../../core/opinion.ts";
import type { PolicySettings } from "../../core/settings.ts";
import { type FakeMechanism, fakePolicy, fakeState, lattice } from "../../../test/kit/gateway/fake-policy.ts";
import { type FakeClient, plain, Stage } from "../../../test/kit/gateway/playbook.ts";
import { stageTools } from "../../../test/kit/gateway/stage-tools.ts";
import { checkRunToken, mintRunToken, runKeyOf } from "./run-key.ts";

/** Stands for a keyed digest: unlike for unlike texts, which is all that these tests need. */
const mac = (text: string): string => Buffer.from(text).toString("hex").split("").reverse().join("").padEnd(32, "0");

describe("keys of runs", () => {
  const facts = { transport: "http", server: "files", principal: "ann", sessionId: "s1" } as const;
  const base = { facts, params: undefined, sessionsTrusted: true, hookSession: undefined, mac };

  it("a minted token is believed, a forged or changed one is not", () => {
    const token = mintRunToken("run-7", mac);
    expect(checkRunToken(token, mac)).toBe("run-7");
    expect(checkRunToken(`${token}x`, mac)).toBeUndefined();
    expect(checkRunToken(token.replace("run-7", "run-8"), mac)).toBeUndefined();
    expect(checkRunToken("", mac)).toBeUndefined();
  });

  it("precedence: token, signed `_meta`, process and hook, trusted session, principal", () => {
    const token = mintRunToken("run-7", mac);
    const process = { pid: 3, startedAt: "9" };
    const inMeta = { _meta: { "io.github.sluicegate/run": token } };
    expect(runKeyOf({ ...base, facts: { ...facts, runToken: token, process } })).toMatchObject({
      key: "run-7",
      kind: "trusted",
    });
    expect(runKeyOf({ ...base, facts: { ...facts, process }, params: inMeta }).key).toBe("run-7");
    expect(runKeyOf({ ...base, facts: { ...facts, process }, hookSession: "h" }).key).toBe("ann/process:3@9/h");
    expect(runKeyOf({ ...base, hookSession: "h" })).toMatchObject({ key: "ann/hook:h", kind: "trusted" });
    expect(runKeyOf(base)).toEqual({ key: "ann/session:s1", kind: "named", lineage: "ann/any" });
    expect(runKeyOf({ ...base, sessionsTrusted: false })).toEqual({
      key: "ann/any",
      kind: "named",
      lineage: "ann/any",
    });
  });
});

/** B (`send`) needs A (`backup`) to have succeeded, and nothing may be sent once something private is held. */
const rules: FakeMechanism = {
  consider: ({ moment }, run): Opinion => {
    if (moment.kind !== "call" || moment.contract.tool !== "send_mail") {
      return { kind: "settled", verdict: "allow", reasons: [], obligations: [] };
    }
    const leaks = fakeState(run.q).held === lattice.top;
    const unmet = fakeState(run.q).succeeded.length === 0;
    const verdict = leaks || unmet ? "deny" : "allow";
    const reason: Reason = { mechanism: "fake", code: leaks ? "SG-LEAK" : "SG-GATE", verdict: "deny", facts: {} };
    return { kind: "settled", verdict, reasons: verdict === "deny" ? [reason] : [], obligations: [] };
  },
};

const http = { transport: "http", process: undefined } as const;

function stageOf(settings: Partial<PolicySettings> = {}): Stage {
  return new Stage({ policy: fakePolicy([rules], { settings }), facts: http as never });
}

/** What `runs new` does to the runs that no token names. */
async function endUnminted({ gateway }: Stage): Promise<void> {
  for (const live of Array.from(gateway.runs.all())) {
    if (!live.key.startsWith("run-")) await gateway.runs.end(live, "operator");
  }
}

let ids = 0;

/** Makes a call in a session and gives what the client saw; the server answers everything. */
async function call(stage: Stage, client: FakeClient, name: string, more: JsonObject = {}): Promise<string> {
  ids += 1;
  client.say({ id: ids, method: "tools/call", params: { name, arguments: {}, ...more } });
  for (let turn = 0; turn < 6; turn += 1) {
    await stage.settle();
    for (const server of stage.servers) {
      for (const message of server.got.splice(0)) {
        if (message.kind !== "request") continue;
        if (message.method === "tools/list") server.say({ id: message.id, result: { tools: stageTools } });
        else server.say({ id: message.id, result: { content: [{ type: "text", text: "ok" }] } });
      }
    }
  }
  return JSON.stringify(client.got.splice(0).map(plain));
}

describe("runs", () => {
  it("have one watcher: a second one does not take its place unseen", () => {
    const { runs } = stageOf().gateway;
    const watcher = {
      grew: () => undefined,
      stirred: () => undefined,
      moved: () => undefined,
      resumed: () => undefined,
      ending: async () => [],
    };
    expect(() => runs.watch(watcher)).toThrow("the runs are followed already");
  });

  it("example 11: a success in one session unlocks nothing in another of the same principal", async () => {
    const stage = stageOf();
    const one = stage.connect({ sessionId: "one" });
    const two = stage.connect({ sessionId: "two" });
    expect(await call(stage, one, "backup")).toContain("ok");
    expect(await call(stage, two, "send_mail")).toContain("Not executed");
    expect(await call(stage, one, "send_mail")).toContain("ok");
  });

  it("sessions of clients whose ids name nothing are one run", async () => {
    const stage = stageOf({ sessions: "untrusted" });
    const one = stage.connect({ sessionId: "one" });
    const two = stage.connect({ sessionId: "two" });
    expect(await call(stage, one, "backup")).toContain("ok");
    expect(await call(stage, two, "send_mail")).toContain("ok");
    expect([...stage.gateway.runs.all()].map(({ key }) => key)).toEqual(["os:1000/any"]);
  });

  it("example 11: a private read in one session, a new session without a trusted act, send out: refused", async () => {
    const stage = stageOf();
    const one = stage.connect({ sessionId: "one" });
    expect(await call(stage, one, "read_secret")).toContain("ok");
    const two = stage.connect({ sessionId: "two" });
    expect(await call(stage, two, "backup")).toContain("ok");
    expect(await call(stage, two, "send_mail")).toContain("Not executed");
  });

  it("example 11: the same after a minted token: allowed; `runs new` has the same effect", async () => {
    const stage = stageOf();
    const one = stage.connect({ sessionId: "one" });
    await call(stage, one, "read_secret");
    const minted = await stage.gateway.beginRun({ principal: "os:1000", urlBase: "http://127.0.0.1:1" });
    if (!minted.ok) throw new Error(minted.error);
    expect(minted.value.url).toBe(`http://127.0.0.1:1/r/${minted.value.token}`);
    const fresh = stage.connect({ sessionId: "three", runToken: minted.value.token });
    await call(stage, fresh, "backup");
    expect(await call(stage, fresh, "send_mail")).toContain("ok");
    await endUnminted(stage);
    const later = stage.connect({ sessionId: "four" });
    await call(stage, later, "backup");
    expect(await call(stage, later, "send_mail")).toContain("ok");
  });

  it("what one session reads later also restricts the sessions that are open beside it", async () => {
    const stage = stageOf();
    const one = stage.connect({ sessionId: "one" });
    const two = stage.connect({ sessionId: "two" });
    await call(stage, two, "backup");
    await call(stage, one, "read_secret");
    expect(await call(stage, two, "send_mail")).toContain("Not executed");
  });

  it("a child starts with its parent's labels, and what it reads its parent holds", async () => {
    const stage = stageOf();
    const parent = await stage.gateway.beginRun({ principal: "os:1000", urlBase: "" });
    if (!parent.ok) throw new Error(parent.error);
    const child = await stage.gateway.beginRun({ principal: "os:1000", parent: parent.value.run, urlBase: "" });
    if (!child.ok) throw new Error(child.error);
    const above = stage.connect({ runToken: parent.value.token });
    const below = stage.connect({ runToken: child.value.token });
    await call(stage, above, "backup");
    await call(stage, below, "read_secret");
    expect(await call(stage, above, "send_mail")).toContain("Not executed");
    const second = await stage.gateway.beginRun({ principal: "os:1000", parent: parent.value.run, urlBase: "" });
    if (!second.ok) throw new Error(second.error);
    const late = stage.connect({ runToken: second.value.token });
    await call(stage, late, "backup");
    expect(await call(stage, late, "send_mail")).toContain("Not executed");
  });

  it("stores are shared by all runs of a principal, and outlive them", async () => {
    const stage = stageOf();
    const one = stage.connect({ sessionId: "one" });
    const two = stage.connect({ sessionId: "two" });
    await call(stage, two, "backup");
    await call(stage, one, "write_store");
    expect([...stage.gateway.runs.all()].map(({ state }) => fakeState(state.q).shared)).toEqual([1, 1]);
    await endUnminted(stage);
    const three = stage.connect({ sessionId: "three" });
    await call(stage, three, "backup");
    expect([...stage.gateway.runs.all()].map(({ state }) => fakeState(state.q).shared)).toEqual([1]);
  });

  it("a run that was open when the gateway stopped is folded from the log, its open calls unknown", async () => {
    const stage = stageOf();
    const one = stage.connect({ sessionId: "one" });
    await call(stage, one, "read_secret");
    one.say({ id: "open", method: "tools/call", params: { name: "backup", arguments: {} } });
    await stage.settle();
    const again = new Stage({ policy: fakePolicy([rules]), facts: http as never, log: stage.log });
    const same = again.connect({ sessionId: "one" });
    expect(await call(again, same, "send_mail")).toContain("Not executed");
    expect(stage.log.events().find(({ kind }) => kind === "unknown")).toMatchObject({
      cause: expect.stringContaining("stopped"),
    });
  });

  it("a token goes on with its run after a restart for the principal of the run only", async () => {
    const stage = stageOf();
    const minted = await stage.gateway.beginRun({ principal: "ann", urlBase: "" });
    if (!minted.ok) throw new Error(minted.error);
    const again = new Stage({ policy: fakePolicy([rules]), facts: http as never, log: stage.log });
    const named = { _meta: { "io.github.sluicegate/run": minted.value.token } };
    for (const [principal, said] of [
      ["bob", "The run has ended"],
      ["ann", "ok"],
    ] as const) {
      const client = again.connect({ principal, sessionId: principal });
      expect(await call(again, client, "backup", named)).toContain(said);
    }
  });

  it("an agreed ttl holds over a restart, and a policy that allows less shortens it", async () => {
    const stage = stageOf();
    const runs = [];
    for (const idleMs of [60_000, 600_000, undefined]) {
      const more = idleMs === undefined ? {} : { idleMs };
      const made = await stage.gateway.beginRun({ principal: "os:1000", urlBase: "", ...more });
      if (made.ok) runs.push(made.value.run);
    }
    const policy = fakePolicy([rules], { settings: { runIdleMs: 300_000 } });
    const again = new Stage({ policy, facts: http as never, log: stage.log });
    await again.gateway.restore();
    const open = (): readonly string[] => again.gateway.runs.dormant.all().map(({ key }) => key);
    expect(open()).toEqual(runs);
    again.clock.pass(60_000);
    await again.gateway.expire();
    expect(open()).toEqual(runs.slice(1));
    again.clock.pass(240_000);
    await again.gateway.expire();
    expect(open()).toEqual([]);
  });

  it("a run that nobody has taken up expires under the policy of its own client", async () => {
    const stage = stageOf();
    const keys: string[] = [];
    for (const client of ["hasty", "patient"]) {
      const made = await stage.gateway.beginRun({ principal: "os:1000", urlBase: "", client });
      if (made.ok) keys.push(made.value.run);
    }
    const again = new Stage({ policy: fakePolicy([rules]), facts: http as never, log: stage.log });
    const hasty = fakePolicy([rules], { settings: { runIdleMs: 60_000 }, digest: "hasty" });
    const select = ({ client }: { readonly client?: string }): typeof hasty =>
      client === "hasty" ? hasty : again.policy;
    Object.assign(again.gateway.state.services.policies, { select });
    await again.gateway.restore();
    again.clock.pass(60_000);
    await again.gateway.expire();
    expect(again.gateway.runs.dormant.all().map(({ key }) => key)).toEqual(keys.slice(1));
    expect(stage.log.runs.get(keys[0] ?? "")).toMatchObject({ policyDigest: "hasty" });
  });

  it("a history that cannot be read leaves the run in its worst state", async () => {
    const stage = stageOf();
    await call(stage, stage.connect({ sessionId: "one" }), "backup");
    const log = stage.log;
    const port = { ...log.port, replay: async () => ({ ok: false, error: "damaged" }) as const };
    Object.defineProperty(log, "port", { value: port });
    const again = new Stage({ policy: fakePolicy(), facts: http as never, log });
    await call(again, again.connect({ sessionId: "one" }), "backup");
    expect([...again.gateway.runs.all()][0]?.state.q).toMatchObject({ top: true });
  });

  it("idle runs end; what they had in flight ends first", async () => {
    const stage = stageOf();
    await call(stage, stage.connect({ sessionId: "one" }), "backup");
    stage.clock.pass(8 * 3_600_000);
    await stage.gateway.expire();
    expect(stage.log.kinds().at(-1)).toBe("ended");
    expect([...stage.gateway.runs.all()]).toEqual([]);
  });

  it("a new policy applies from the next decision, on the state folded again under it", async () => {
    const stage = stageOf();
    const one = stage.connect({ sessionId: "one" });
    await call(stage, one, "read_secret");
    stage.load(fakePolicy([rules], { digest: "policy-2" }));
    await stage.settle();
    await call(stage, one, "backup");
    const [live] = stage.gateway.runs.all();
    expect(live?.policy.digest).toBe("policy-2");
    expect(live?.state.q).toMatchObject({ held: lattice.top });
  });
});
