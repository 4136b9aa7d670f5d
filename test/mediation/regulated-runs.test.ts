// formal.md example 7 through the whole gateway: two runs, a channel that both share, and a restart between them.
import { describe, expect, it } from "vitest";
import { FakeLog } from "../kit/gateway/fake-log.ts";
import { Conversation } from "../kit/gateway/real-policy.ts";

/** The client may send what it holds, once the web is enabled for anyone: that is nobody's call. */
function policy(consent: "never" | "may"): string {
  return `
flow: {mode: strict}
lattice: {confidentiality: [public, private]}
servers: {desk: {trust: trusted}}
stores: {web: {audience: me, label: {confidentiality: public, trust: trusted}}}
host: {send: {open: anyone}}
labels:
  desk.read_priv: {effects: read.local, rest: {role: content, sink: false}, output: {confidentiality: private, trust: trusted}}
  desk.enable_web:
    effects: write.local.config
    rest: {role: content, sink: false}
    output: {confidentiality: public, trust: trusted}
    opens: {store: web, audience: anyone}
hazards:
  leak:
    consent: ${consent}
    why: what is private stays here
    never:
      flow:
        from: {confidentiality: private, audience: [anyone]}
        to: {effect: write.external.send, store: {name: web, audience: anyone}}
`;
}

const tools = { desk: ["read_priv", "enable_web"] };
const [first, second] = [7, 8];

describe("two runs and a channel that both share", () => {
  it("refuses whichever comes second, until one of the runs has ended", async () => {
    const talk = new Conversation(policy("never"), tools);
    expect((await talk.call("desk.read_priv", {}, first)).refused).toBe(false);
    const refused = await talk.call("desk.enable_web", {}, second);
    expect(refused.text).toMatch(
      /^Not executed: another open run holds data, and after `desk.enable_web` the client sends/,
    );
    expect(refused.text).toContain("Ask the user to end that run");
    const [live] = [...talk.stage.gateway.runs.all()];
    if (live !== undefined) await talk.stage.gateway.runs.end(live, "closed");
    expect((await talk.call("desk.enable_web", {}, second)).refused).toBe(false);
    expect((await talk.call("desk.read_priv", {}, second)).text).toContain("`desk.read_priv` is hidden");
    expect(talk.reached).toEqual(["desk.read_priv", "desk.enable_web"]);
  });

  it("a run that nobody has taken up since a restart counts as well", async () => {
    const log = new FakeLog();
    const before = new Conversation(policy("never"), tools, { log });
    await before.call("desk.read_priv", {}, first);
    const after = new Conversation(policy("never"), tools, { log });
    await after.stage.gateway.restore();
    expect((await after.call("desk.enable_web", {}, second)).refused).toBe(true);
    await after.stage.gateway.runs.endDormant(after.stage.gateway.runs.dormant.all()[0]?.key ?? "", "closed");
    expect((await after.call("desk.enable_web", {}, second)).refused).toBe(false);
  });

  it("where a person may accept it, the run that would suffer keeps the risk", async () => {
    const talk = new Conversation(policy("may"), tools);
    await talk.call("desk.read_priv", {}, first);
    const asked = await talk.call("desk.enable_web", {}, second);
    const id = /sluicegate approve (\S+)`/.exec(asked.text)?.[1] ?? "";
    talk.stage.log.approve(id);
    expect((await talk.call("desk.enable_web", {}, second)).refused).toBe(false);
    const risks = [...talk.stage.gateway.runs.all()].map(
      ({ policy: under, state }) => under.describeRegulation(state, [], 0).risks,
    );
    expect(risks).toEqual([["leak host.send"], []]);
  });
});
