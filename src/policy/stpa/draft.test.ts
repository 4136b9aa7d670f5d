import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { shippedLoader, sha256, toolDigest } from "../../app/policy/policy-source.ts";
import type { JsonObject } from "../../core/json.ts";
import { type ToolLists, contractOfTool } from "../contracts/contracts.ts";
import { inferTool } from "../contracts/infer.ts";
import { loadPolicy } from "../load.ts";
import { type Draft, draftStpa, draftText } from "./draft.ts";
import { documentGaps } from "./gaps.ts";
import { draftToolsMax, draftUcasMax, stpaEntriesMax } from "./document.ts";
import { many } from "./names.ts";
import { readStpa } from "./read.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

const labels = `version: 1
stores: {"drive:files": {audience: me}}
labels:
  mail.list: {effects: [read.external], output: {confidentiality: private, trust: untrusted}}
  mail.send:
    effects: [write.external.send]
    args: {to: recipient, body: content}
    output: &done {confidentiality: public, trust: trusted}
  calendar.delete: {effects: [write.local.delete], args: {id: identifier}, output: *done}
  calendar.backup: {effects: [write.local], args: {id: identifier}, output: *done}
  calendar.plan: {effects: [write.local.schedule], args: {id: identifier}, output: *done}
  drive.share:
    effects: [write.external.share]
    args: {with: recipient}
    opens: {store: "drive:files", audience: anyone}
    output: *done
  drive.grant: {effects: [write.external.grant], args: {with: recipient}, output: *done}
  drive.burn: {effects: [read.local], flags: [irreversible], args: {id: identifier}, output: *done}
  web.fetch: {effects: [read.external], args: {url: destination}, output: {confidentiality: public, trust: untrusted}}
  web.notes: {effects: [read.external], args: {q: query}, output: *done}
  bank.pay: {effects: [write.external.pay], args: {to: recipient, sum: amount}, output: *done}
  box.run: {effects: [execute.local], args: {command: command}, output: *done}
  box.copy: {effects: [write], args: {}, output: *done}
  box.pick:
    effects: [read.local]
    output: *done
    cases:
      - when: {arg: {id: {glob: x}}}
        effects: [read.local, write.external.publish]
        output: {confidentiality: private, trust: trusted}
`;

function policyOf(text: string) {
  const { policy, diagnostics } = loadPolicy({ file: "p.yaml", text }, { loader: shippedLoader, hash: sha256 });
  if (policy === undefined) throw new Error(JSON.stringify(diagnostics));
  return policy;
}
const labelled = policyOf(labels);

function drafted(lists: ToolLists): Draft {
  const tools = Object.entries(lists).flatMap(([server, listed]) =>
    listed.map((tool) => ({
      contract: contractOfTool(labelled.table, server, tool, toolDigest),
      suggested: inferTool(tool).may,
    })),
  );
  return draftStpa(tools, labelled.ir.lattice);
}

const named = (...names: readonly string[]): readonly JsonObject[] => names.map((name) => ({ name }));
/** Without the one about the person, which stands in every draft that asks anything. */
const questions = (lists: ToolLists): readonly string[] =>
  Object.keys(drafted(lists).document.ucas ?? {}).filter((id) => !id.startsWith("UCA.person"));
const context = (lists: ToolLists, id: string): string | undefined => drafted(lists).document.ucas?.[id]?.context;

describe("a draft asks", () => {
  it("whether private data and strangers' text reach what is sent", () => {
    expect(questions({ mail: named("send") })).toEqual(["UCA.mail.send.repeated"]);
    expect(questions({ mail: named("send", "list") })).toEqual([
      "UCA.mail.send.private-data",
      "UCA.mail.send.chosen-by-others",
      "UCA.mail.send.repeated",
    ]);
    expect(context({ mail: named("send", "list") }, "UCA.mail.send.private-data")).toBe(
      "when an argument holds data above the lowest level, such as comes from `mail.list`",
    );
  });

  it("for a copy before something goes for good", () => {
    const both = { calendar: named("backup", "delete") };
    expect(questions(both)).toEqual(["UCA.calendar.delete.before-backup", "UCA.calendar.backup.missing"]);
    expect(drafted(both).document.ucas?.["UCA.calendar.backup.missing"]?.form).toBe("not-provided");
    expect(context(both, "UCA.calendar.delete.before-backup")).toContain("when `calendar.backup` has not succeeded");
    expect(context({ calendar: named("delete") }, "UCA.calendar.delete.before-backup")).toContain(
      "when a copy has not",
    );
    expect(questions({ calendar: named("backup") })).toEqual([]);
    expect(questions({ drive: named("burn") })).toEqual(["UCA.drive.delete.before-backup"]);
  });

  it("for the order of a share and for its end", () => {
    expect(questions({ drive: named("share", "grant") })).toEqual([
      "UCA.drive.grant.left-in-force",
      "UCA.drive.share.after-private-data",
      "UCA.drive.share.left-in-force",
    ]);
    expect(context({ drive: named("share") }, "UCA.drive.share.after-private-data")).toContain("`drive:files`");
    expect(questions({ calendar: named("plan") })).toEqual(["UCA.calendar.schedule.left-in-force"]);
  });

  it("for the address of what is fetched, and not for a plain read", () => {
    expect(questions({ web: named("fetch", "notes") })).toEqual(["UCA.web.fetch.chosen-by-others"]);
  });

  it("for checks and repetitions of a payment", () => {
    expect(questions({ bank: named("pay") })).toEqual(["UCA.bank.pay.unchecked", "UCA.bank.pay.repeated"]);
  });

  it("for what only some calls do", () => {
    expect(questions({ box: named("pick") })).toEqual(["UCA.box.publish.private-data", "UCA.box.publish.repeated"]);
  });

  it("the person, too, wherever anything asks", () => {
    const { control, ucas } = drafted({ mail: named("send") }).document;
    expect(control.actions["A.person.consent"]).toMatchObject({ by: "person", on: "gateway" });
    expect(Object.keys(ucas ?? {}).at(-1)).toBe("UCA.person.consent.unread");
    expect(drafted({ web: named("notes") }).document.ucas).toEqual({});
  });

  it("for commands, and for writes of unknown reach", () => {
    const lists = { box: named("run", "copy"), mail: named("list") };
    expect(questions(lists)).toEqual([
      "UCA.box.write-outside.private-data",
      "UCA.box.write-outside.chosen-by-others",
      "UCA.box.execute.private-data",
      "UCA.box.execute.chosen-by-others",
    ]);
  });

  it("what an unlabelled tool does, and what its name suggests", () => {
    expect(questions({ new: named("frobnicate") })).toEqual(["UCA.new.unlabelled.unknown"]);
    expect(questions({ new: named("send_email") })).toContain("UCA.new.unlabelled.unknown");
    expect(questions({ new: named("send_email") })).toContain("UCA.new.send.private-data");
    // Where somebody said what is private, the unlabelled are no examples of it.
    expect(context({ new: named("send_email"), mail: named("list") }, "UCA.new.send.private-data")).toContain(
      "from `mail.list`",
    );
  });
});

describe("a draft", () => {
  it("is an STPA document with no other gap than missing requirements", () => {
    const all = {
      mail: named("send", "list"),
      calendar: named("delete", "backup", "plan"),
      drive: named("share", "grant"),
      web: named("fetch"),
      bank: named("pay"),
      box: named("run", "copy"),
      new: named("a", "send_email"),
    };
    const read = readStpa(draftText(drafted(all)), "draft.yaml", sha256);
    if (!read.ok) throw new Error(JSON.stringify(read.error));
    expect(new Set(documentGaps(read.value.document).map(({ code }) => code))).toEqual(new Set(["SG-STPA-UCA"]));
  });

  it("names no action where nothing is to be asked", () => {
    expect(drafted({ web: named("notes") }).document.control.actions).toEqual({});
  });

  it("shortens long lists of tools", () => {
    const lists = { mail: named(...Array.from({ length: draftToolsMax + 1 }, (_, index) => `send_${index}`)) };
    const action = drafted(lists).document.control.actions["A.mail.send"];
    expect(action?.tools).toEqual(["mail.*"]);
    expect(action?.does).toContain("and 98 more");
  });

  it("keeps ids apart that look alike", () => {
    const long = "x".repeat(70);
    const found = drafted({
      "a/b": named("delete_x"),
      "a:b": named("delete_x"),
      "a-b": named("delete_x"),
      [`${long}1`]: named("q"),
      [`${long}2`]: named("q"),
    });
    const ids = Object.keys(found.document.control.actions);
    expect(ids).toContain("A.a-b.delete");
    expect(ids).toContain("A.a-b.delete-2");
    expect(ids.every((id) => id.length <= 64)).toBe(true);
  });

  it("leaves out tools that no selector can name, and says so", () => {
    const found = drafted({ mail: named("send", "a b", "*", "e\u202evil"), "s.t": named("send") });
    expect(found.leftOut).toEqual({ tools: 4, questions: 0 });
    expect(draftText(found)).toContain("# Left out: 4 tools");
  });

  it("has a limit and says what found no room", () => {
    const lists = Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`s${index}`, named("frobnicate")]));
    const found = drafted(lists);
    expect(Object.keys(found.document.ucas ?? {})).toHaveLength(draftUcasMax + 1);
    expect(found.leftOut.questions).toBe(600 - draftUcasMax);
    expect(draftText(found)).toContain(`beyond the limit of ${draftUcasMax}`);
    expect(Object.keys(found.document.control.feedback ?? {})).toHaveLength(stpaEntriesMax);
    expect(readStpa(draftText(found), "d", sha256).ok).toBe(true);
  });
});

test("law: a draft reads, whatever tools are called, and does not depend on their order", () => {
  const name = fc.oneof(
    fc.string({ unit: "binary", minLength: 1, maxLength: 12 }),
    fc.constantFrom("send", "delete_all", "$&", "pay", "null", "__proto__"),
  );
  const server = fc.oneof(name, fc.constantFrom("mail", "drive", "a.b"));
  fc.assert(
    fc.property(fc.array(fc.tuple(server, name), { maxLength: 12 }), (pairs) => {
      const tools = pairs.map(([on, tool]) => {
        const listed = { name: tool };
        return { contract: contractOfTool(labelled.table, on, listed, () => "0"), suggested: inferTool(listed).may };
      });
      const made = draftStpa(tools, labelled.ir.lattice);
      const text = draftText(made);
      expect(draftText(draftStpa(tools.toReversed(), labelled.ir.lattice))).toBe(text);
      const read = readStpa(text, "draft.yaml", sha256);
      expect(read).toMatchObject({ ok: true });
      for (const { tools: selectors } of Object.values(made.document.control.actions)) {
        expect(many(selectors).every((selector) => !/[\s\p{C}]/u.test(selector))).toBe(true);
      }
    }),
    { numRuns: runs },
  );
});
