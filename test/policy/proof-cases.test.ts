// The two cases of the paper, on the tools of real servers: the attack without rules, the proof with them, and what stays
// possible.
import { describe, expect, it } from "vitest";
import { listedTools, manifestOf } from "../../src/app/proof/subject-tools.ts";
import { type Verified, verify } from "../../src/app/proof/verify.ts";
import type { PolicyDocument } from "../../src/policy/canonical/policy-document.ts";
import type { RuleText } from "../../src/policy/document/shapes-rules.ts";
import { loadPolicy } from "../../src/policy/load.ts";
import { shippedOptions } from "../kit/policy/load-packs.ts";

function verified(document: PolicyDocument): Verified {
  const { policy, diagnostics } = loadPolicy({ file: "case", document }, shippedOptions);
  if (policy === undefined) throw new Error(JSON.stringify(diagnostics, undefined, 1));
  const listed = listedTools(policy, {});
  if (!listed.ok) throw new Error(listed.error);
  return verify(policy, manifestOf(policy, listed.value));
}

const only = (of: Verified) => {
  const [property] = of.properties;
  if (property === undefined) throw new Error("each case has one hazard");
  return property;
};

/** The calendar, and no question about mail, so that rules have to do what the default would. */
const quiet = (tool: string): RuleText => ({ id: "quiet", tier: "allow", when: tool, why: "every call would ask" });

describe("calendar: private events are told to nobody", () => {
  const event = { title: "focus", start: "2026-12-01T09:00", end: "2026-12-01T10:00" };
  const document = (rules: readonly RuleText[]): PolicyDocument => ({
    version: 1,
    servers: { calendar: { pack: "calendar" }, mail: { pack: "mail" } },
    hazards: {
      "agenda-leaves": {
        loss: "strangers know where you are",
        never: { flow: { from: { confidentiality: "private", trust: "untrusted" }, to: { tool: "send_email" } } },
      },
    },
    labels: {
      "calendar.list_events": {
        effects: ["read.external"],
        rest: "query",
        output: { confidentiality: "private", trust: "untrusted" },
      },
    },
    rules: [quiet("mail.send_email"), ...rules],
    expect: [
      {
        trace: [
          { "calendar.create-event": event },
          { "calendar.update-event": { eventId: "e1", start: "2026-12-01T11:00" } },
          { "mail.send_email": { to: ["ann@example.com"], subject: "moved", body: "We meet at 11." } },
        ],
        verdict: "allow",
        instruction:
          "create focus from 2026-12-01T09:00 to 2026-12-01T10:00, move e1 to 2026-12-01T11:00, and write ann@example.com, subject moved: We meet at 11.",
      },
    ],
  });
  const closed = document([
    {
      id: "events-stay",
      tier: "block",
      when: { tool: "mail.send_email", data: { confidentiality: "private", trust: "untrusted" } },
      why: "events are nobody else's business",
    },
  ]);

  it("without rules: what was listed is sent", () => {
    const found = only(verified(document([])));
    expect(found).toMatchObject({ verdict: "refuted", enforcedBy: "regulation" });
    expect(found.counterexample?.slice(0, 2)).toEqual([
      "1. calendar.list-events, returns private, untrusted data",
      "2. mail.send_email(subject: private, untrusted) <- agenda-leaves",
    ]);
    expect(found.without.counterexample).toEqual(found.counterexample?.slice(0, 2));
  });

  it("with the rule: proved, and creating, moving and telling what is not private stays possible", () => {
    const result = verified(closed);
    expect(only(result)).toMatchObject({ verdict: "proved", core: ["events-stay"] });
    expect(result.usefulness).toEqual([{ expect: 0, verdict: "allow", holds: true }]);
    expect(result.ok).toBe(true);
  });
});

describe("GitHub: what is private gets out through a store when the direct way is closed", () => {
  const memory = {
    "memory:graph": { audience: "me", label: { confidentiality: "public", trust: "trusted" } },
  } as const;
  const document = (rules: readonly RuleText[]): PolicyDocument => ({
    version: 1,
    servers: { notes: {}, memory: { pack: "memory" }, github: { pack: "github" } },
    stores: memory,
    flow: { mode: "strict" },
    labels: {
      "notes.read_note": {
        effects: ["read.local"],
        args: { name: "identifier" },
        output: { confidentiality: "private", trust: "trusted" },
      },
      "memory.read_graph": {
        effects: ["read.local"],
        output: { confidentiality: "inferred", trust: "inferred" },
        reads: "memory:graph",
      },
      // The note is all that is private here.
      "github.*_secret_scanning_*": { output: { confidentiality: "sensitive", trust: "untrusted" } },
    },
    hazards: {
      "notes-published": {
        loss: "strangers read the notes",
        never: { flow: { from: "private", to: { effect: "write.external.publish" } } },
      },
    },
    rules: [quiet("github.*"), ...rules],
    expect: [
      {
        trace: [
          { "memory.read_graph": {} },
          { "github.add_issue_comment": { owner: "a", repo: "b", issue_number: 1, body: "thanks" } },
        ],
        verdict: "allow",
        instruction: "answer thanks in issue 1 of a/b: owner a, repo b",
      },
    ],
  });
  const direct: readonly RuleText[] = [
    {
      id: "no-strangers",
      tier: "block",
      when: { effect: "write.external", data: { confidentiality: "private", trust: "untrusted" } },
      why: "unknown text",
    },
    {
      id: "no-publishing-readers",
      tier: "block",
      absence: { after: "notes.read_note", never: { effect: "write.external.publish" } },
      why: "readers publish nothing",
    },
  ];

  it("without rules it is published directly", () => {
    const [first, second] = only(verified(document([]))).counterexample ?? [];
    expect(first).toBe("1. notes.read_note, returns private data");
    expect(second).toMatch(/^2\. github\.\w+\(.*private\) <- notes-published$/);
  });

  it("with the direct way closed another run remembers the note, and this one publishes what it recalls", () => {
    const lines = only(verified(document(direct))).counterexample ?? [];
    expect(lines[0]).toMatch(
      /^1\. another run: memory\.create_entities\(entities: private\), memory:graph now holds private/,
    );
    expect(lines[1]).toBe("2. memory.read_graph, returns private data");
    expect(lines[2]).toMatch(/^3\. github\.\w+\(.*private\) <- notes-published$/);
  });

  it("a rule about the data itself closes both ways, and what is not private is still published", () => {
    const guard: RuleText = {
      id: "notes-stay",
      tier: "block",
      when: { effect: "write.external.publish", data: "private" },
      why: "notes stay here",
    };
    const result = verified(document([...direct, guard]));
    expect(only(result)).toMatchObject({ verdict: "proved", core: ["notes-stay"] });
    expect(result.ok).toBe(true);
  });
});

it("a server whose tools nobody has listed is not passed over in silence", () => {
  const document: PolicyDocument = {
    version: 1,
    servers: { tracker: {}, mail: { pack: "mail" } },
    hazards: { h: { never: { flow: { from: "private", to: "mail.send_email" } } } },
  };
  expect(verified(document).assumptions.at(-1)).toMatch(
    /without a list of tools offer none \(tracker\): .* --manifest/,
  );
  const listed = { ...document, servers: { mail: { pack: "mail" } } };
  expect(verified(listed).assumptions.join("\n")).not.toMatch(/without a list/);
});
