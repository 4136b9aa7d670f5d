// Certificates of small proofs: complete, accepted by the checker, and none where there is no proof.
import { describe, expect, it } from "vitest";
import {
  blocks,
  hazardId,
  open,
  prove,
  secret,
  sha256,
  sink,
  small,
  tools,
  model,
} from "../../../test/kit/proof/small.ts";
import { assumptionsOf, certificateOf } from "./certificate.ts";
import { checkCertificate } from "../check/check.ts";
import { explore } from "./fixpoint.ts";
import type { Subject } from "./subject.ts";
import { labelTable, tableEntry, wholeTable } from "./table.ts";

const useful = { expect: [{ trace: ["s.read"], verdict: "allow" as const }] };
const expected = [{ verdict: "allow", holds: true }];
const labels = { "s.read": tools.reads(secret), "s.send": tools.sends() };
const rules = [blocks("no", { tool: "s.send", data: "private" })];
const flow = { flow: { from: "private", to: "s.send" } } as const;

function certified(subject: Subject, core: readonly string[]) {
  const explored = explore(model(subject, core));
  if (!explored.ok) throw new Error(explored.error);
  return certificateOf({
    subject,
    hazard: hazardId,
    core,
    explored: explored.value,
    manifests: { s: "d" },
    expect: expected,
  });
}

describe("certificates", () => {
  it("say everything, sorted, and are accepted", () => {
    const subject = small({ labels, rules, never: flow, ...useful });
    const made = certified(subject, ["no"]);
    expect(made).toMatchObject({ version: 1, hazard: "h", core: ["no"], manifests: { s: "d" }, expect: expected });
    expect(made?.["digest"]).toBe(subject.policy.digest);
    expect(made?.["tools"]).toEqual(subject.contracts.map((one) => tableEntry(subject.policy.ir, one)));
    expect(checkCertificate(made, { hash: sha256 })).toMatchObject({ ok: true, hazard: "h", core: ["no"] });
  });

  it("there is none where a way is left", () => {
    expect(certified(small({ labels, rules, never: flow }), [])).toBeUndefined();
  });

  it("stores that nothing changes do not get in the way", () => {
    const stores = {
      quiet: { audience: "anyone", label: secret },
      box: { audience: "me", label: open },
    } as const;
    const subject = small({
      labels: { ...labels, "s.write": tools.writes("box"), "s.look": tools.reads(open, { reads: ["quiet", "box"] }) },
      stores,
      rules,
      never: flow,
      ...useful,
    });
    const made = certified(subject, ["no"]);
    expect(checkCertificate(made, { hash: sha256 })).toMatchObject({ ok: true });
    expect(made?.["variables"]).toEqual(expect.arrayContaining(["K:1", "S:box:0"]));
  });

  it("keep to what was found by the search, whatever room is left in the diagram", () => {
    const subject = small({ labels, rules, never: flow, ...useful });
    const proof = prove(subject);
    if (proof.explored === undefined) throw new Error("it is proved");
    const { explored, core = [] } = proof;
    const size = explored.model.space.diagram.size;
    certificateOf({ subject, hazard: "h", core, explored, manifests: {}, expect: expected });
    expect(explored.model.space.diagram.size).toBe(size);
  });
});

describe("the label table", () => {
  const subject = small({
    labels: {
      "s.read": tools.reads(open, {
        cases: [
          { when: { arg: { path: "a.key" } }, output: secret },
          { when: { arg: { path: "b" } }, effects: ["read.local", "write.local"] },
        ],
      }),
      "s.send": tools.sends({ args: { to: { ...sink, role: "recipient" } } }),
      "s.grant": tools.grants("box"),
    },
    stores: { box: {} },
    never: flow,
  });

  it("has every tool, then every method of its server", () => {
    const listed = { s: [{ name: "read" }, { name: "send" }] };
    const table = labelTable(subject.policy, listed, () => "");
    expect(table.slice(0, 3).map(({ tool }) => tool)).toEqual(["read", "send", "resources/read"]);
    expect(table.map(({ tool }) => tool)).toEqual(expect.arrayContaining(["prompts/get", "sampling/createMessage"]));
  });

  it("believes no claim of a server", () => {
    const [read] = subject.contracts;
    if (read === undefined) throw new Error("no contract");
    const effects = { must: ["read.local", "write.local"], may: ["read.local", "write.local"] };
    const claims = {
      ...read,
      effects,
      claimed: ["write.local"],
      cases: [{ predicates: [0], effects }, { predicates: [1] }],
    };
    const believed = { must: ["read.local"], may: effects.may };
    const [found] = wholeTable(subject.policy, [["s", [claims]]]);
    expect(found).toMatchObject({ effects: believed, cases: [{ effects: believed }, { predicates: [1] }] });
    expect(found).not.toHaveProperty("claimed");
  });

  it("has the tools of clients whose hooks report them, known and not: the gateway decides them, too", () => {
    const names = (host: "hooks" | "none") =>
      labelTable(small({ host: { tools: host }, never: flow }).policy, {}, () => "").map(
        ({ server, tool }) => `${server}.${tool}`,
      );
    expect(names("hooks")).toEqual(
      expect.arrayContaining(["host:claude-code.WebFetch", "host:claude-code.unlisted tool"]),
    );
    expect(names("none")).toEqual([]);
  });

  it("regression: a client's own web reader is a way out like any other", () => {
    const { policy } = small({
      labels: { "s.read": tools.reads(secret) },
      rules: [{ id: "quiet", tier: "allow", when: "host:claude-code.WebFetch", why: "reading is the job" }],
      never: { flow: { from: "private", to: { effect: "read.external" } } },
    });
    const subject = { policy, contracts: labelTable(policy, { s: [{ name: "read" }] }, () => "") };
    expect(prove(subject)).toMatchObject({ verdict: "refuted", counterexample: { steps: [{}, { tool: "WebFetch" }] } });
  });

  it("an entry is plain JSON with upper ends and groups by bits", () => {
    const [read, send, grant] = subject.contracts.map((one) => tableEntry(subject.policy.ir, one));
    expect(read).toMatchObject({
      server: "s",
      tool: "read",
      output: { label: 0 },
      // What the second does for sure counts where the argument fits, and is only possible where it may.
      cases: [{ output: { label: 1 } }, { effects: {} }, { effects: {} }],
    });
    expect(read).toHaveProperty("cases.0.predicates.0.kind", "argument");
    expect(send).toMatchObject({
      arguments: { to: { role: "recipient", sink: true, audience: 1 } },
      consequential: true,
    });
    expect(grant).toMatchObject({ opens: [{ store: "box", audience: 1 }] });
    expect(JSON.parse(JSON.stringify(read))).toEqual(read);
  });
});

describe("assumptions", () => {
  const said = (more: Partial<Parameters<typeof small>[0]>): string =>
    assumptionsOf(small({ never: flow, ...more })).join("\n");

  it("name what the client asks about itself, and how data is followed", () => {
    expect(said({})).toMatch(/its own send, read, execute\./);
    expect(said({})).toMatch(/mode `provenance`/);
    expect(said({ host: { send: "open", read: "open", execute: "open" } })).not.toMatch(/its own/);
    expect(said({ host: { read: { open: ["box"] } }, stores: { box: {} } })).toMatch(/its own send, execute\./);
    expect(said({ flow: { mode: "none" } })).toMatch(/No data is followed/);
    expect(said({ flow: { mode: "strict" } })).not.toMatch(/mode `/);
  });

  it("say that whoever shares the stores shares the policy, and how they begin", () => {
    expect(said({})).toMatch(/Stores begin as the policy says, and every run that shares them follows this policy\./);
  });
});

describe("entries about an enclosed process", () => {
  const process = { tier: "A", order: "o" } as const;
  const subject = small({ labels, rules, never: flow, ...useful });
  const enclosed = {
    ...subject,
    contracts: subject.contracts.map((one) => (one.server === "s" ? { ...one, process } : one)),
  };

  it("name its tier and order, and so does a sentence among the assumptions", () => {
    const made = certified(enclosed, ["no"]);
    expect(made?.["tools"]).toContainEqual(expect.objectContaining({ server: "s", process }));
    expect(assumptionsOf(enclosed).at(-1)).toBe("Server s runs in isolation tier A under the order o.");
    const two = [...enclosed.contracts, ...enclosed.contracts.map((one) => ({ ...one, server: "r", process }))];
    expect(assumptionsOf({ ...enclosed, contracts: two }).slice(-2)).toEqual([
      "Server r runs in isolation tier A under the order o.",
      "Server s runs in isolation tier A under the order o.",
    ]);
    expect(checkCertificate(made, { hash: sha256 })).toMatchObject({ ok: true });
  });

  it("are those of the methods of the same server, too", () => {
    const [first] = enclosed.contracts.filter(({ server }) => server === "s");
    const whole = wholeTable(subject.policy, [["s", first === undefined ? [] : [first]]]);
    const methods = whole.filter(({ toolDigest }) => toolDigest === undefined);
    expect(methods.length).toBeGreaterThan(10);
    for (const one of methods) if (one.server === "s") expect(one.process).toEqual(process);
    const loose = wholeTable(subject.policy, [["s", []]]);
    for (const one of loose) expect(one.process).toBeUndefined();
  });
});
