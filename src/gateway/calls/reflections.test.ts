// Looking back: every occasion of the moment `reflect`, what is told of it, and what a deny does.
import { describe, expect, it } from "vitest";
import type { Opinion } from "../../core/opinion.ts";
import type { ReflectMoment } from "../../core/moment.ts";
import type { Verdict } from "../../core/verdict.ts";
import { type FakeMechanism, fakePolicy } from "../../../test/kit/gateway/fake-policy.ts";
import { play, Stage } from "../../../test/kit/gateway/playbook.ts";
import { reflectMsMax } from "../ports/limits.ts";

function watching(seen: ReflectMoment[], verdictOf: (moment: ReflectMoment) => Verdict): FakeMechanism {
  return {
    consider: ({ moment }): Opinion => {
      if (moment.kind !== "reflect") return { kind: "settled", verdict: "allow", reasons: [], obligations: [] };
      seen.push(moment);
      const verdict = verdictOf(moment);
      const reason = { mechanism: "watch", code: "SG-TEST", verdict, rule: "R7", facts: {}, why: "drift", way: "look" };
      return { kind: "settled", verdict, reasons: verdict === "allow" ? [] : [reason], obligations: [] };
    },
  };
}

const list = { id: "l", method: "tools/list" };
const listed = { id: "l", result: { tools: [{ name: "look", inputSchema: { type: "object" } }] } };
const asking = [
  { client: ">>", message: list },
  { server: "<<", message: list },
  { server: ">>", message: listed },
] as const;
const setup = [...asking, { client: "<<", message: listed }] as const;

function call(id: number) {
  const request = { id, method: "tools/call", params: { name: "look", arguments: {} } };
  const answer = { id, result: { content: [] } };
  return [
    { client: ">>", message: request },
    { server: "<<", message: request },
    { server: ">>", message: answer },
    { client: "<<", message: answer },
  ] as const;
}

const causes = (seen: readonly ReflectMoment[]): readonly string[] => seen.map(({ cause }) => cause);

describe("occasions", () => {
  it("at a start, at a list, after every third outcome, after a while, and at the end", async () => {
    const seen: ReflectMoment[] = [];
    const stage = new Stage({ policy: fakePolicy([watching(seen, () => "allow")]) });
    await play(stage, setup);
    expect(causes(seen)).toEqual(["start", "list"]);
    await play(stage, [...call(1), ...call(2)]);
    expect(seen).toHaveLength(2);
    await play(stage, call(3));
    expect(seen.at(-1)).toMatchObject({ cause: "periodic", server: "files" });
    stage.clock.pass(reflectMsMax - 1);
    await stage.gateway.expire();
    expect(seen).toHaveLength(3);
    stage.clock.pass(1);
    await stage.gateway.expire();
    expect(seen.at(-1)).toMatchObject({ cause: "periodic", server: undefined });
    const [live] = stage.gateway.runs.all();
    if (live !== undefined) await stage.gateway.runs.end(live, "closed");
    expect(seen.at(-1)).toMatchObject({ cause: "end" });
    expect(stage.notices).toEqual([]);
  });

  it("a run that expires is looked back at as well", async () => {
    const seen: ReflectMoment[] = [];
    const policy = fakePolicy([watching(seen, () => "allow")], { settings: { runIdleMs: 1_000 } });
    const stage = new Stage({ policy });
    await play(stage, setup);
    stage.clock.pass(1_001);
    await stage.gateway.expire();
    expect(causes(seen).at(-1)).toBe("end");
  });
});

describe("findings", () => {
  it("are logged with the decision, told once while unchanged, and given at the end", async () => {
    const seen: ReflectMoment[] = [];
    const policy = fakePolicy([watching(seen, ({ server }) => (server === undefined ? "confirm" : "allow"))]);
    const stage = new Stage({ policy });
    await play(stage, setup);
    for (let time = 0; time < 2; time += 1) {
      stage.clock.pass(reflectMsMax);
      await stage.gateway.expire();
    }
    expect(stage.notices).toEqual([expect.stringMatching(/^Run \S+: SG-TEST \(rule R7\): drift; look\.$/)]);
    const [live] = stage.gateway.runs.all();
    const owed = live === undefined ? [] : await stage.gateway.runs.end(live, "closed");
    expect(owed).toEqual(["SG-TEST (rule R7): drift; look."]);
    expect(stage.notices[1]).toMatch(/^Run \S+ ended: SG-TEST/);
    const records = stage.log.entries.filter(({ notes }) => notes?.["moment"] === "reflect");
    expect(records).toMatchObject([
      { notes: { cause: "periodic" }, decision: { reasons: [{ code: "SG-TEST" }] } },
      { notes: { cause: "end" } },
    ]);
  });

  it("a deny about a server takes its admission back: nothing of it is listed or called any more", async () => {
    const policy = fakePolicy([watching([], ({ cause, server }) => (cause === "list" && server ? "deny" : "allow"))]);
    const stage = new Stage({ policy });
    await play(stage, [...asking, { client: "<<", message: { id: "l", result: { tools: [] } } }]);
    expect(stage.notices).toEqual([expect.stringContaining("Its tools are hidden now.")]);
    const refused = expect.objectContaining({ result: expect.objectContaining({ isError: true }) });
    await play(stage, [
      { client: ">>", message: { id: 1, method: "tools/call", params: { name: "look", arguments: {} } } },
      { client: "<<", message: refused },
    ]);
  });

  it("a deny about a server that is only observed is reported, and hides nothing", async () => {
    const mechanism = watching([], ({ cause, server }) => (cause === "list" && server ? "deny" : "allow"));
    const stage = new Stage({ policy: fakePolicy([mechanism], { settings: { mode: "observe" } }) });
    await play(stage, setup);
    expect(stage.notices).toEqual([expect.stringContaining("SG-TEST")]);
    expect(stage.notices[0]).not.toContain("hidden now");
  });
});
