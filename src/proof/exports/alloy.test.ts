// Golden text of a tiny model. It was read by Alloy 6, which is not installed where these tests run.
import { describe, expect, it } from "vitest";
import { blocks, model, open, secret, small, tools } from "../../../test/kit/proof/small.ts";
import { type Explored, explore } from "../prove/fixpoint.ts";
import type { Subject } from "../prove/subject.ts";
import { alloyOf } from "./alloy.ts";

const labels = { "s.read": tools.reads(secret), "s.send": tools.sends(), "s.look": tools.reads(open) };

function explored(of: Subject, core: readonly string[]): Explored {
  const found = explore(model(of, core));
  if (!found.ok) throw new Error(found.error);
  return found.value;
}

const plain = (text: string): string => text.replace(/[0-9a-f]{64}/, "DIGEST");

describe("a system", () => {
  const subject = small({
    labels,
    rules: [blocks("keep", { tool: "s.send", data: "private" })],
    never: { flow: { from: "private", to: "s.send" } },
    flow: { mode: "strict" },
  });

  it("is facts, moves and a claim", () => {
    expect(plain(alloyOf(explored(subject, ["keep"])))).toMatchInlineSnapshot(`
      "// Hazard h of the policy with digest DIGEST.
      // Rules that restrict: keep.
      // Labels are upper bounds; a call that would need confirmation does not happen.
      // 4 moves, of which 4 differ; 1 state variables.

      // What is true between two moves.
      abstract sig Fact {}
      one sig Is_the_run_holds_private extends Fact {} // the run holds private
      var sig True in Fact {}

      // What an agent, a server or time settles in one move.
      abstract sig Choice {}
      one sig Chose_returns extends Choice {} // of a call: returns
      one sig Chose_present_0 extends Choice {} // argument 1 of the call is there
      var sig Chosen in Choice {}

      // Decisions that moves share.
      pred n2 { Chose_returns in Chosen }
      pred n3 { Is_the_run_holds_private in True or Chose_returns in Chosen }
      pred n4 { not (Chose_present_0 in Chosen) }
      pred n5 { Is_the_run_holds_private in True implies n4 }

      // this run calls s.read
      pred call_s_read {
        Is_the_run_holds_private in True' iff (n3)
        True' - (Is_the_run_holds_private) = True - (Is_the_run_holds_private)
      }

      // this run calls s.send. Rules: keep
      pred call_s_send {
        n5
        True' = True
      }

      // this run calls s.look
      pred call_s_look {
        True' = True
      }

      // a server says something outside any call
      pred server_speaks {
        Is_the_run_holds_private in True' iff (no none)
        True' - (Is_the_run_holds_private) = True - (Is_the_run_holds_private)
      }

      // The start of a run.
      fact Start { no True }

      // Something moves, or nothing does: time goes on after the last move, too.
      fact Traces {
        always (call_s_read or
          call_s_send or
          call_s_look or
          server_speaks or
          True' = True)
      }

      // Moves that are permitted and bring about h.
      pred Bad { some none }

      assert NeverBad { always not Bad }
      // For traces of any length, leave out the second number and choose one of the model checkers as the solver.
      check NeverBad for 1 but 1..10 steps expect 0

      // Usefulness: what is not forbidden can still be done; shows a run that holds something and calls something.
      pred Useful { eventually (some (True & (Is_the_run_holds_private)) and (call_s_read or call_s_send or call_s_look)) }
      run Useful for 1 but 1..10 steps
      "
    `);
  });

  it("that was refuted is expected to have an instance", () => {
    expect(alloyOf(explored(subject, []))).toContain("check NeverBad for 1 but 1..10 steps expect 1");
  });
});

it("every kind of move has a name of its own, and nothing but a name", () => {
  const never = { flow: { from: "private", to: { effect: "write.external" } } } as const;
  const subject = small({
    labels: { ...labels, "s.note": { ...tools.writes("box"), reads: "box" }, "s.share": tools.grants("box") },
    stores: { box: { audience: "me", label: secret } },
    rules: [{ id: "ask-first", tier: "must", gate: { before: "s.send", need: "s.look", within: "1m" }, why: "so" }],
    host: { send: "open", read: "open", execute: "open" },
    never,
  });
  const hostile = {
    ...subject,
    contracts: subject.contracts.map((one) => ({ ...one, server: "s}\nfact { no True }" })),
  };
  const text = alloyOf(explored(hostile, ["ask-first"]));
  const names = [...text.matchAll(/^pred (.*) \{/gm)].map(([, name]) => name ?? "");
  expect(text).toMatch(/^[ -~\n]*$/);
  for (const name of names) expect(name).toMatch(/^[A-Za-z][A-Za-z0-9_]*$/);
  expect(new Set(names).size).toBe(names.length);
  for (const one of ["call_s", "other_run_calls_s", "reads_on_anyone_box", "client_read", "client_send"]) {
    expect(names.some((name) => name.startsWith(one))).toBe(true);
  }
  expect(text.match(/^fact /gm)).toHaveLength(2);
});
