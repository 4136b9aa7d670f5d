// Golden texts of a tiny model, and names that try to break out of it. That solvers agree is test/laws/proof/solver.test.ts.
import { describe, expect, it } from "vitest";
import { blocks, model, open, secret, small, tools } from "../../../test/kit/proof/small.ts";
import { type Explored, explore } from "../prove/fixpoint.ts";
import type { Subject } from "../prove/subject.ts";
import { hornOf, smtlibOf } from "./smtlib.ts";

const labels = { "s.read": tools.reads(secret), "s.send": tools.sends(), "s.look": tools.reads(open) };
const subject = small({
  labels,
  rules: [blocks("keep", { tool: "s.send", data: "private" })],
  never: { flow: { from: "private", to: "s.send" } },
  flow: { mode: "strict" },
});

function explored(of: Subject, core: readonly string[]): Explored {
  const found = explore(model(of, core));
  if (!found.ok) throw new Error(found.error);
  return found.value;
}

/** Without the digest of the policy, which every change of its form changes. */
const plain = (text: string): string => text.replace(/[0-9a-f]{64}/, "DIGEST");

describe("a proof", () => {
  const made = smtlibOf(explored(subject, ["keep"]));

  it("is three questions without an answer", () => {
    expect(made.expected).toEqual(["unsat", "unsat", "unsat"]);
    expect(plain(made.text)).toMatchInlineSnapshot(`
      "; Hazard h of the policy with digest DIGEST.
      ; Rules that restrict: keep.
      ; Labels are upper bounds; a call that would need confirmation does not happen.
      ; 4 moves, of which 4 differ; 1 state variables.
      (set-logic QF_UF)

      ; ---- State: what is true between two moves ----
      ; |K:1|  the run holds private

      ; ---- Choices: what an agent, a server or time settles in one move ----
      ; |choose returns|  of a call: returns
      ; |choose present 0|  argument 1 of the call is there

      (declare-const |K:1| Bool)
      (declare-const |choose returns| Bool)
      (declare-const |choose present 0| Bool)
      (declare-const |K:1'| Bool)

      ; ---- The start of a run ----
      (declare-const start Bool)
      (assert (= start
        (not |K:1|)))

      ; ---- Moves that are permitted and bring about h ----
      (declare-const bad Bool)
      (assert (= bad
         false))

      ; ---- Moves that are permitted and change the state ----
      (declare-const step Bool)
      (assert (= step
        (let ((n3 (or |K:1| |choose returns|)))
        (let ((same0 (= |K:1'| |K:1|)))
        (or
         ; this run calls s.read
         (= |K:1'| n3)
         ; a server says something outside any call
         (= |K:1'| true)
        )))))

      ; ---- States from which nothing bad can follow ----
      (declare-const invariant Bool)
      (assert (= invariant
        (not false)))

      ; ---- The same of the state after a move ----
      (declare-const invariant-next Bool)
      (assert (= invariant-next
        (not false)))

      ; 1. Is there a start outside the invariant?
      (push 1)
      (assert start)
      (assert (not invariant))
      (set-info :status unsat)
      (check-sat)
      (pop 1)

      ; 2. Can something bad happen in a state of the invariant?
      (push 1)
      (assert invariant)
      (assert bad)
      (set-info :status unsat)
      (check-sat)
      (pop 1)

      ; 3. Can a move lead out of the invariant?
      (push 1)
      (assert invariant)
      (assert step)
      (assert (not invariant-next))
      (set-info :status unsat)
      (check-sat)
      (pop 1)
      "
    `);
  });

  it("is the system without the invariant for a solver that looks for its own", () => {
    const horn = hornOf(explored(subject, ["keep"]));
    expect(horn.expected).toEqual(["sat"]);
    expect(plain(horn.text)).toMatchInlineSnapshot(`
      "; Hazard h of the policy with digest DIGEST.
      ; Rules that restrict: keep.
      ; Labels are upper bounds; a call that would need confirmation does not happen.
      ; 4 moves, of which 4 differ; 1 state variables.
      (set-logic HORN)

      ; ---- State: what is true between two moves ----
      ; |K:1|  the run holds private

      ; ---- Choices: what an agent, a server or time settles in one move ----
      ; |choose returns|  of a call: returns
      ; |choose present 0|  argument 1 of the call is there

      ; ---- Is there a set of states with the start, closed under moves, in which nothing bad can happen? ----
      (declare-fun Reached (Bool) Bool)
      ; It holds the start.
      (assert (forall ((|K:1| Bool))
      (=>
        (not |K:1|)
        (Reached |K:1|))))
      ; It is closed under moves.
      (assert (forall ((|K:1| Bool) (|choose returns| Bool) (|choose present 0| Bool) (|K:1'| Bool))
      (=> (and (Reached |K:1|)
        (let ((n3 (or |K:1| |choose returns|)))
        (let ((same0 (= |K:1'| |K:1|)))
        (or
         ; this run calls s.read
         (= |K:1'| n3)
         ; a server says something outside any call
         (= |K:1'| true)
        ))))
        (Reached |K:1'|))))
      ; Nothing bad can happen in it.
      (assert (forall ((|K:1| Bool) (|choose returns| Bool) (|choose present 0| Bool))
      (=> (and (Reached |K:1|)
         false)
        false)))
      (set-info :status sat)
      (check-sat)
      "
    `);
  });
});

describe("a refutation", () => {
  it("is the system unrolled until something bad happens", () => {
    const made = smtlibOf(explored(subject, []));
    expect(made.expected).toEqual(["unsat", "sat"]);
    expect(made.text.slice(made.text.indexOf("; ---- Move 1 ----"))).toMatchInlineSnapshot(`
      "; ---- Move 1 ----
      (declare-const step@0 Bool)
      (assert (= step@0
        (let ((n3 (or |K:1@0| |choose returns@0|)))
        (let ((same0 (= |K:1@1| |K:1@0|)))
        (or
         ; this run calls s.read
         (= |K:1@1| n3)
         ; a server says something outside any call
         (= |K:1@1| true)
        )))))
      (assert step@0)

      ; ---- Move 2 brings about h ----
      (declare-const bad@1 Bool)
      (assert (= bad@1
        (let ((n3 (and |K:1@1| |choose present 0@1|)))
         ; this run calls s.send
         n3)))

      ; Can the last of 2 moves be bad?
      (push 1)
      (assert bad@1)
      (set-info :status sat)
      (check-sat)
      (pop 1)
      "
    `);
    expect(hornOf(explored(subject, [])).expected).toEqual(["unsat"]);
  });
});

it("a model without state has formulas without variables", () => {
  const still = small({ labels, never: { call: { tool: "s.look" } }, flow: { mode: "none" } });
  const { text, expected } = smtlibOf(explored(still, []));
  expect(expected).toEqual(["sat"]);
  expect(text).toContain("(assert (= start\n  true))");
  expect(hornOf(explored(still, [])).text).toContain("(assert (=>\n  true\n  Reached))");
});

it("names from servers and policies stay inside comments and quotations", () => {
  const evil = 'a\n(check-sat) |"\\\u2028;';
  const hostile = small({
    labels,
    rules: [blocks("keep", { tool: "s.send", arg: { [evil]: { equals: evil } } })],
    never: { flow: { from: "private", to: { effect: "write.external" } } },
  });
  const renamed = {
    ...hostile,
    contracts: hostile.contracts.map((one) => ({ ...one, server: evil, tool: one.tool + evil })),
  };
  for (const { text, expected } of [smtlibOf(explored(renamed, [])), hornOf(explored(renamed, []))]) {
    expect(text).toMatch(/^[ -~\n]*$/);
    const code = text.replace(/\|[^|]*\|/g, "name").replace(/^ *;.*$/gm, "");
    expect(code.match(/\(check-sat\)/g)).toHaveLength(expected.length);
    expect(code).not.toMatch(/[|"\\]/);
    expect([...code].filter((one) => one === "(")).toHaveLength([...code].filter((one) => one === ")").length);
  }
});
