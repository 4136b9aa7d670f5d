/**
 * B12: members of a stream are in one state whenever they are looked at (docs/decisions/0033): under rules over what is held
 * and over stores, with remembered filters, and with members under another policy.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import { samePlain } from "../../../core/same-plain.ts";
import { Conversation, policyOf } from "../../../../test/kit/gateway/real-policy.ts";

/** Rules over what is held and over stores, whose automata move as stores are in the moment of an event. */
const lookingRules = `
  - {id: LATE, tier: confirm, atMost: {of: {tool: files.list, held: private}, count: 2}, why: "lists when private data is held"}
  - {id: KEPT, tier: confirm, atMost: {of: {tool: post.send, store: {name: notes, label: private}}, count: 1}, why: "mail after private notes"}
  - {id: OPEN, tier: block, atMost: {of: {tool: files.recall, store: {name: wall, audience: anyone}}, count: 2}, why: "recalls before an open wall"}`;

/** Rules that leave each member to fold when it is looked at: they count calls, and the policy is regulated. */
const countingRules = `
  - {id: MANY, tier: confirm, atMost: {of: files.list, count: 2}, why: "many lists"}
  - {id: FEW, tier: block, atMost: {of: post.send, count: 1}, why: "one mail"}`;

const policyText = (regulation: string, more = "", rules = lookingRules): string => `
flow: {mode: provenance}
lattice: {confidentiality: [public, private], groups: [me, anyone], clearance: {anyone: public}}
stores: {notes: {}, wall: {audience: me}}
${regulation}
labels:
  files.read_text: {effects: [read.local], output: {confidentiality: private, trust: untrusted}}
  files.list: {effects: [read.local], output: {confidentiality: public, trust: trusted}}
  files.write: {effects: [write.local], writes: [notes]}
  files.recall: {effects: [read.local], reads: [notes], output: {confidentiality: public, trust: trusted}}
  files.open: {effects: [write.local.config], opens: {store: wall, audience: anyone}}
  post.send: {effects: [write.external.send], args: {to: {role: recipient}, text: {role: content}}}
rules:
  - {id: ALL, tier: allow, when: {tool: "*"}, why: "all may pass"}${rules}
${more}`;

const calls = [
  ["files", "read_text"],
  ["files", "list"],
  ["files", "write"],
  ["files", "recall"],
  ["files", "open"],
  ["post", "send"],
] as const;

/** Four client processes of one user, the last one with a policy of its own. */
class Users {
  readonly talk: Conversation;
  readonly #eager: boolean;
  #count = 0;
  /** The client process that says something now. */
  #speaks = 0;

  constructor(eager: boolean, regulation: string, rules: string) {
    this.#eager = eager;
    const tools = { files: ["read_text", "list", "write", "recall", "open"], post: ["send"] };
    const other = policyOf(
      policyText(regulation, `  - {id: MORE, tier: block, atMost: {of: files.write, count: 9}, why: "many"}\n`, rules),
    );
    this.talk = new Conversation(policyText(regulation, "", rules), tools);
    const { policies } = this.talk.stage.gateway.state.services;
    const usual = this.talk.stage.policy;
    Object.assign(policies, { select: () => (this.#speaks === 3 ? other : usual) });
  }

  async call(process: number, which: number): Promise<void> {
    const [server, name] = calls[which % calls.length] ?? calls[0];
    const { stage } = this.talk;
    stage.clock.pass(10);
    this.#speaks = process;
    const facts = { server, process: { pid: 20 + process, startedAt: "1" } };
    const client = stage.connect(facts);
    this.#count += 1;
    const text = which % 2 === 0 ? "entry 7919 of the ledger" : "hello";
    client.say({ id: `c${this.#count}`, method: "tools/call", params: { name, arguments: { text } } });
    await this.talk.serve();
    if (this.#eager) this.look();
  }

  look(process?: number): void {
    for (const live of this.talk.stage.gateway.runs.all()) {
      if (process === undefined || live.key.includes(`process:${20 + process}@`)) void live.state;
    }
  }

  states(): readonly unknown[] {
    const live = [...this.talk.stage.gateway.runs.all()].toSorted((left, right) => (left.key < right.key ? -1 : 1));
    return live.map(({ key, state, sources, inFlight }) => [
      key,
      { q: state.q, memories: state.memories },
      sources,
      inFlight,
    ]);
  }
}

const power =
  "regulation: {power: {budget: 40, weights: {write.external.send: 9}}, leases: [{tool: files.open, calls: 3}]}";

it.each([
  ["", "looking", lookingRules],
  ["regulation: {filter: {mode: accumulate}}", "looking", lookingRules],
  ["", "counting", countingRules],
  ["regulation: {filter: {mode: accumulate}}", "counting", countingRules],
  [power, "counting", countingRules],
])("B12: a member is the same whenever it is looked at (%s, %s)", async (regulation, _name, rules) => {
  const act = fc.record({ process: fc.nat(3), which: fc.nat(11), look: fc.option(fc.nat(3)) });
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 4, maxLength: 14 }), async (acts) => {
      const [late, eager] = [new Users(false, regulation, rules), new Users(true, regulation, rules)];
      for (const { process, which, look } of acts) {
        for (const users of [late, eager]) await users.call(process, which);
        if (look !== null) late.look(look);
      }
      expect(samePlain(late.states(), eager.states())).toBe(true);
    }),
    { numRuns: 5 },
  );
});
