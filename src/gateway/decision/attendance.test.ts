// The table of guards: what a guard that is off lets through, and the attack that it stops elsewhere.
import { describe, expect, it, vi } from "vitest";
import { type JsonObject, member } from "../../core/json.ts";
import { type FakeState, type PolicyChanges, lattice } from "../../../test/kit/gateway/fake-policy.ts";
import { type Says, held, hold, hook, must, saying, Scenario } from "../../../test/kit/gateway/commit-scenario.ts";
import { type Attendance, type Guard, attendances } from "./attendance.ts";

const names: readonly Attendance[] = ["client", "outbox", "injected", "compensation", "hook", "client-data"];
const guards: readonly Guard[] = ["selfProtection", "inDoubt", "otherRuns", "runEnd", "consent", "hold", "perform"];

describe("the table of attendances", () => {
  it("has a frozen cell for each guard and attendance, and a reason where a guard is off", () => {
    expect(Object.keys(attendances).toSorted()).toEqual([...names].toSorted());
    expect(Object.isFrozen(attendances)).toBe(true);
    const off: string[] = [];
    for (const name of names) {
      const row = attendances[name];
      expect(Object.isFrozen(row)).toBe(true);
      for (const guard of guards) {
        const cell = row[guard];
        expect(Object.isFrozen(cell), `${name} ${guard}`).toBe(true);
        if (cell.way !== "off") continue;
        off.push(`${name} ${guard}`);
        expect(cell.why.length).toBeGreaterThan(20);
      }
    }
    // Each of these has a test below that fails when the guard is switched on.
    expect(off).toEqual(["injected inDoubt", "injected perform", "client-data inDoubt"]);
  });
});

describe("in-doubt repeats", () => {
  it("off for an injected call: the rule wants it before each call, whatever became of the one before", async () => {
    const scenario = new Scenario(saying({ send_mail: { obligations: [must] } }));
    await scenario.call("read_file");
    scenario.doubt("backup");
    expect(await scenario.call("send_mail")).toContain("ok");
    expect(scenario.reached).toEqual(["read_file", "backup", "send_mail"]);
  });

  it("off for data of a client: what is sent twice was asked for twice", async () => {
    const scenario = new Scenario(saying({}));
    await scenario.call("read_file");
    scenario.doubt("notifications/x", { answer: 1 }, { method: "notifications/x" });
    await scenario.notify("notifications/x", { answer: 1 });
    expect(scenario.reached).toEqual(["read_file", "notifications/x"]);
  });

  it("on for a client: the money would be sent twice", async () => {
    const scenario = new Scenario(saying({}));
    await scenario.call("read_file");
    scenario.doubt("send_mail");
    expect(await scenario.call("send_mail")).toContain("may already have happened");
    expect(scenario.reached).toEqual(["read_file"]);
  });

  it("on for the outbox: a held call that was made by another way meanwhile is dropped with a word", async () => {
    const scenario = new Scenario(saying({ send_mail: held }));
    await scenario.call("send_mail");
    scenario.doubt("send_mail");
    await scenario.call("read_file");
    expect(scenario.reached).toEqual(["read_file"]);
    expect(scenario.refusals()).toEqual([["SG-MAYBE-DONE"]]);
    expect(scenario.stage.notices.join()).toContain("the same call may have been made already");
  });

  it("on for the outbox, but a consent that came before the call was held has settled it", async () => {
    const scenario = new Scenario(saying({ send_mail: held }));
    await scenario.call("list_files");
    scenario.doubt("send_mail");
    const asked = await scenario.call("send_mail");
    const id = /approve (\S+?)`/.exec(asked)?.[1] ?? "";
    const { log } = scenario.stage;
    await log.port.store.decideApproval({ id, verdict: "approved", by: "ann", role: "operator", wallMs: 0 });
    expect(await scenario.call("send_mail")).toContain("outbox");
    await scenario.call("read_file");
    expect(scenario.reached).toEqual(["list_files", "read_file", "send_mail"]);
  });

  it("on for a client's own tool: its person is asked, and answers for the rest of the run", async () => {
    const scenario = new Scenario(saying({}));
    const use = { tool: "Bash", arguments: { command: "pay" } };
    const { gateway } = scenario.stage;
    await gateway.hostEvent(hook, { kind: "prompt", text: "pay" });
    scenario.doubt("Bash", use.arguments, { server: "host:claude", method: "host/tool" });
    expect((await gateway.hostEvent(hook, { kind: "before-tool", ...use })).verdict).toBe("ask");
    await gateway.hostEvent(hook, { kind: "after-tool", ...use, result: "paid", failed: false });
    const dispatched = scenario.stage.log.events().find(({ kind }) => kind === "dispatched");
    expect(dispatched).toMatchObject({ method: "host/tool", consent: "in the client" });
    expect((await gateway.hostEvent(hook, { kind: "before-tool", ...use })).verdict).toBe("allow");
  });
});

describe("a consent to a repeat of a call that a rule holds", () => {
  const holding = (q: FakeState): Says =>
    q.allowed.includes("list_files") && !q.allowed.includes("read_file") ? { obligations: [hold] } : {};
  const policy = () => saying({ send_mail: holding });
  const maybe = "may already have happened";

  /** The mail was sent, its answer was lost, and from now on a rule holds it. */
  async function lostMail(): Promise<Scenario> {
    const scenario = new Scenario(policy());
    await scenario.call("backup");
    await scenario.lose("send_mail");
    await scenario.call("list_files");
    return scenario;
  }

  const consents = ({ stage }: Scenario) =>
    stage.log.events().flatMap((event) => (event.kind === "dispatched" ? [event.consent] : []));

  it("goes with the held call: the same call once more asks again, and one mail leaves", async () => {
    const scenario = await lostMail();
    const asked = await scenario.call("send_mail");
    expect(asked).toContain(maybe);
    const id = scenario.approve(asked);
    expect(await scenario.call("send_mail")).toContain("outbox");
    expect(await scenario.call("send_mail")).toContain(maybe);
    await scenario.call("read_file");
    expect(scenario.reached).toEqual(["backup", "send_mail", "list_files", "read_file", "send_mail"]);
    expect(consents(scenario).at(-1)).toBe(id);
    // It was made with consent, so the doubt is over, as after every such call.
    expect(await scenario.call("send_mail")).toContain("ok");
  });

  it.each([
    ["where the outbox is full", "full", "Not executed"],
    ["where it is not on record as held", "unrecorded", "event log cannot be written"],
  ])("settles nothing %s", async (_, fails, told) => {
    const scenario = await lostMail();
    const { log, gateway } = scenario.stage;
    const { runObligations } = gateway.state;
    scenario.approve(await scenario.call("send_mail"));
    const holds = vi.spyOn(runObligations, "hold");
    if (fails === "full") holds.mockReturnValue(false);
    if (fails === "unrecorded") log.failsAt = ({ notes }) => notes?.["moment"] === "outbox";
    expect(await scenario.call("send_mail")).toContain(told);
    holds.mockRestore();
    expect(await scenario.call("send_mail")).toContain(maybe);
  });

  it("settles no doubt that arose since: the held call is dropped with a word", async () => {
    const scenario = await lostMail();
    scenario.approve(await scenario.call("send_mail"));
    await scenario.call("send_mail");
    scenario.stage.clock.pass(1);
    scenario.doubt("send_mail");
    await scenario.call("read_file");
    expect(scenario.reached).toEqual(["backup", "send_mail", "list_files", "read_file"]);
    expect(scenario.stage.notices.join()).toContain("the same call may have been made already");
  });

  it.each([
    ["is on record with the held call, so a restart sends it", true],
    ["is absent from the record of an older gateway, so the call is dropped with a word", false],
  ])("%s", async (_, recorded) => {
    const before = await lostMail();
    const id = before.approve(await before.call("send_mail"));
    await before.call("send_mail");
    const { log } = before.stage;
    const held = log.entries.findIndex(({ notes }) => notes?.["held"] !== undefined);
    const entry = log.entries[held];
    if (entry === undefined) throw new Error("nothing is on record as held");
    const { doubtSettled, ...older } = entry.notes ?? {};
    expect(doubtSettled).toMatchObject({ approval: id });
    if (!recorded) log.entries[held] = { ...entry, notes: older };
    const after = new Scenario(policy(), log);
    await after.call("list_files");
    await after.call("read_file");
    expect(after.reached).toEqual(["list_files", "read_file", ...(recorded ? ["send_mail"] : [])]);
    expect(after.stage.notices.join().includes("may have been made already")).toBe(!recorded);
    expect(consents(after).includes(id)).toBe(recorded);
  });
});

describe("calls that must come first", () => {
  it("off for an injected call: rules that inject each other end", async () => {
    const back = { ...must, rule: "R3", tool: "send_mail" } as const;
    const scenario = new Scenario(saying({ send_mail: { obligations: [must] }, backup: { obligations: [back] } }));
    expect(await scenario.call("send_mail")).toContain("ok");
    expect(scenario.reached).toEqual(["backup", "send_mail"]);
  });

  it("on for a client and for the outbox: without the call that comes first, none goes out", async () => {
    const owing = (q: FakeState): Says => (held(q).obligations === undefined ? { obligations: [must] } : held(q));
    const scenario = new Scenario(saying({ send_mail: owing, backup: { verdict: "deny" } }));
    await scenario.call("send_mail");
    await scenario.call("read_file");
    expect(await scenario.call("send_mail")).toContain("isError");
    expect(scenario.reached).toEqual(["read_file"]);
    const codes = scenario.refusals().flat();
    expect(codes.filter((code) => code === "SG-MUST-FAILED")).toHaveLength(2);
  });

  it("a hook and data of a client cannot have calls made first, so they are refused", async () => {
    const scenario = new Scenario(
      saying({ Bash: { obligations: [must] }, "notifications/x": { obligations: [must] } }),
    );
    await scenario.call("read_file");
    const before = { kind: "before-tool", tool: "Bash", arguments: {} } as const;
    expect(await scenario.stage.gateway.hostEvent(hook, before)).toMatchObject({
      verdict: "deny",
      sentence: expect.stringContaining("Not executed"),
    });
    await scenario.notify("notifications/x");
    expect(scenario.reached).toEqual(["read_file"]);
    expect(scenario.refusals()).toEqual([["SG-OBLIGATION"], ["SG-OBLIGATION"]]);
  });
});

describe("data of a client passes the guards of a call", () => {
  it("self-protection: what names the gateway's own files is not sent, since no approver can be asked", async () => {
    const scenario = new Scenario(saying({}));
    await scenario.call("read_file");
    const touched = ({ arguments: given }: { readonly arguments: JsonObject }) =>
      member(given, "path") === "/state" ? ({ place: "/state", stake: "kept" } as const) : undefined;
    Object.assign(scenario.stage.gateway.state.services, { selfProtection: { touched, holds: () => false } });
    await scenario.notify("notifications/x", { path: "/state" });
    await scenario.notify("notifications/x", { path: "/w" });
    expect(scenario.reached).toEqual(["read_file", "notifications/x"]);
    expect(scenario.refusals()).toEqual([["SG-ASK-OWN"]]);
  });

  it("other runs: what would open a store that another run of the owner has written to is not sent", async () => {
    const reason = { mechanism: "fake", code: "SG-OTHER-RUN", verdict: "deny", facts: {} } as const;
    const regulation: PolicyChanges["regulation"] = {
      sharedVerdict: (moved, other) =>
        JSON.stringify(moved).includes('"shared":1') && JSON.stringify(other).includes(`"held":${lattice.top}`)
          ? { verdict: "deny", reason }
          : { verdict: "allow", reason: undefined },
    };
    const scenario = new Scenario(saying({}, { regulation }));
    await scenario.call("read_secret");
    const second = scenario.stage.connect({ process: { pid: 8, startedAt: "1" } });
    second.say({ id: 90, method: "tools/call", params: { name: "read_file", arguments: {} } });
    await scenario.run();
    second.say({ method: "write_store", params: {} });
    await scenario.run();
    expect(scenario.refusals()).toEqual([["SG-OTHER-RUN"]]);
    expect(scenario.reached).not.toContain("write_store");
  });

  it("run end: a decision that ends the run ends it, here too", async () => {
    const end = { kind: "end-run", rule: "R4" } as const;
    const scenario = new Scenario(saying({ "notifications/x": { verdict: "deny", obligations: [end] } }));
    await scenario.call("read_file");
    const { live } = scenario;
    await scenario.notify("notifications/x");
    expect(live.ended).toBe(true);
    expect(scenario.stage.log.kinds().at(-1)).toBe("ended");
    expect(scenario.refusals().flat()).toContain("SG-RUN-ENDED");
  });
});

describe("obligations that an attendance cannot meet", () => {
  it("an injected call that a rule holds is refused on record, and so is the call that needs it", async () => {
    const scenario = new Scenario(saying({ send_mail: { obligations: [must] }, backup: { obligations: [hold] } }));
    expect(await scenario.call("send_mail")).toContain("isError");
    expect(scenario.reached).toEqual([]);
    expect(scenario.refusals()).toEqual([["SG-OBLIGATION"], ["SG-MUST-FAILED"]]);
  });

  it("no approver is asked about a call that is refused in any case", async () => {
    const isolate = { kind: "isolate", rule: "R5", scope: "s" } as const;
    const scenario = new Scenario(saying({ send_mail: { verdict: "confirm", obligations: [isolate] } }));
    await scenario.call("send_mail");
    expect(scenario.refusals()).toEqual([["SG-OBLIGATION"]]);
    expect(scenario.stage.cards).toEqual([]);
    expect(scenario.stage.log.approvals.size).toBe(0);
  });
});
