import { describe, expect, it } from "vitest";
import type { LabelRange } from "../../core/label.ts";
import type { Q, StoreCell } from "../../policy/semantics/state.ts";
import { open, secret, tools } from "../../../test/kit/proof/small.ts";
import { startProblemOf } from "./regulator.ts";
import { debt, leak, openHost } from "../../../test/kit/regulation/documents.ts";
import { type SmallDocument, compiled, SmallRun } from "../../../test/kit/regulation/small-run.ts";

describe("where no run may start", () => {
  it("says what would bring the hazard about by itself, and what to change", () => {
    const { startProblem } = new SmallRun({
      ...openHost(),
      host: { send: { open: "anyone" }, read: { open: "notes" } },
      stores: { notes: { audience: "me", label: { confidentiality: "private", trust: "trusted" } } },
    }).policy;
    expect(startProblem).toBe(
      "hazard `leak` can happen by `host.send` alone, which the gateway does not decide: change `host` or the store, or write `accepts: [leak]`",
    );
    expect(new SmallRun(openHost()).policy.startProblem).toBeUndefined();
  });
});

/** Whoever reads the notes by itself may send them on. */
const reading: SmallDocument = {
  host: { send: { open: "anyone" }, read: { open: "notes" } },
  stores: { notes: { audience: "me" }, board: { audience: "me" } },
  labels: {
    "s.read": tools.reads(secret),
    "s.note": tools.writes("notes"),
    "s.post": tools.writes("board"),
    "s.open": tools.grants("board"),
    "s.look": tools.reads(open),
  },
  hazards: { leak: leak() },
};

const range = (lo: number, hi: number): LabelRange => ({ lo: lo as LabelRange["lo"], hi: hi as LabelRange["hi"] }); // bits of the small lattice

describe("what a policy that cannot start is about", () => {
  const about = (document: SmallDocument) => startProblemOf(compiled(document))?.about;

  it("is the move that nobody decides, then the hazard", () => {
    const document = { ...openHost(), stores: { notes: { audience: "me", label: secret } } };
    const host = { send: { open: "anyone" }, read: { open: "notes" } } as const;
    expect(about({ ...document, host })).toEqual([
      ["host", "send"],
      ["hazards", "leak"],
    ]);
    expect(about(openHost())).toBeUndefined();
  });

  it("is the rule or the list of what cannot be met", () => {
    const rule = { id: "no", tier: "block", when: { tool: "s.notify" }, why: "never" } as const;
    const owing = debt();
    expect(about({ ...owing, keep: [{ firm: true, trace: ["s.notify"] }], rules: [rule] })).toEqual([["keep"]]);
  });
});

describe("a change of what all runs share", () => {
  const run = new SmallRun(reading);
  const sharedVerdict = (moved: Q, other: Q) => run.policy.sharedVerdict(moved, other);
  const everyone = (1 << run.ir.lattice.groups.length) - 1;

  function state(notes: Partial<StoreCell>, board: Partial<StoreCell>): Q {
    const [first, second] = run.q.stores;
    if (first === undefined || second === undefined) throw new Error("there are two stores");
    return {
      ...run.q,
      stores: [
        { ...first, ...notes },
        { ...second, ...board },
      ],
    };
  }

  it("is fine where nothing looms over another run that did not loom before", () => {
    const quiet = state({}, {});
    expect(sharedVerdict(quiet, quiet).verdict).toBe("allow");
    const alarmed = state({}, { label: range(1, 1), open: everyone, audience: everyone });
    expect(sharedVerdict(alarmed, alarmed).verdict).toBe("allow");
    const trivial = new SmallRun({ labels: openHost().labels ?? {} });
    expect(trivial.policy.sharedVerdict(trivial.run.q, trivial.run.q)).toEqual({ verdict: "allow", reason: undefined });
  });

  it("is refused where something would loom for certain, and names it", () => {
    const moved = state({}, { label: range(1, 1), open: everyone, audience: everyone });
    const found = sharedVerdict(moved, state({}, {}));
    expect(found).toMatchObject({ verdict: "deny", reason: { code: "SG-OTHER-RUN", rule: "leak" } });
  });

  it("is asked about where it only may, and refused where what was in doubt becomes sure", () => {
    const doubtful = state({}, { label: range(0, 1), open: everyone, audience: everyone });
    expect(sharedVerdict(doubtful, state({}, {})).verdict).toBe("confirm");
    const sure = state({}, { label: range(1, 1), open: everyone, audience: everyone });
    const found = sharedVerdict(sure, doubtful);
    expect(found).toMatchObject({ verdict: "deny", reason: { rule: "leak" } });
  });
});

describe("a shortlist", () => {
  it("leaves out no tool that the run has used, and none that the policy keeps", () => {
    const names = ["mail", "read", "keep", "other", "more"];
    const small = new SmallRun({
      labels: Object.fromEntries(names.map((name) => [`s.${name}`, tools.reads(open)])),
      regulation: { shortlist: 1 },
      keep: [{ trace: ["s.keep"] }],
    });
    const listed = names.map((name) => ({ server: "s", name, description: "", bytes: 40 }));
    const shown = (): readonly (string | undefined)[] | undefined => {
      const found = small.policy.shortlist(small.run, listed);
      return found === undefined ? undefined : [...found.shown].map((index) => listed[index]?.name);
    };
    expect(shown()).toBeUndefined();
    small.fold({ kind: "registered", at: 1, text: { source: "instruction", value: "send a mail" } });
    expect(shown()).toEqual(["mail", "keep"]);
    small.send("s.read");
    expect(shown()).toEqual(["mail", "read", "keep"]);
    expect(small.policy.shortlist(small.run, listed)?.tokensSaved).toBe(20);
  });
});
