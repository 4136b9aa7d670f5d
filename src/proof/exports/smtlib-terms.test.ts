// Every shape of a decision, evaluated again from its text.
import { expect, it } from "vitest";
import { Diagram } from "../prove/diagram.ts";
import { alternatives, conjunction, makeTerms } from "./smtlib-terms.ts";

const diagram = new Diagram(1_000);
const [a, b, c] = [0, 1, 2].map((level) => diagram.variable(level)) as [number, number, number]; // three levels, three nodes

it.each([
  ["a constant", 1, "true"],
  ["the other", 0, "false"],
  ["a variable", a, "x0"],
  ["not", diagram.not(a), "  (let ((n3 (not x0)))\nn3)"],
  ["and", diagram.and(a, b), "  (let ((n3 (and x0 x1)))\nn3)"],
  ["or", diagram.or(a, b), "  (let ((n3 (or x0 x1)))\nn3)"],
  ["implies", diagram.ite(a, b, 1), "  (let ((n3 (=> x0 x1)))\nn3)"],
  ["and not", diagram.ite(a, 0, b), "  (let ((n3 (and (not x0) x1)))\nn3)"],
  ["if", diagram.ite(a, b, c), "  (let ((n4 (ite x0 x1 x2)))\nn4)"],
])("%s", (_, node, text) => {
  const terms = makeTerms(diagram, (level) => `x${level}`);
  const body = terms.of(node);
  expect(terms.around(body).replace(/n\d/g, "n")).toBe(text.replace(/n\d/g, "n"));
});

it("lists of none, one and more", () => {
  expect([conjunction([]), conjunction(["p"]), conjunction(["p", "q"])]).toEqual(["true", "p", "(and p q)"]);
  expect(alternatives([])).toBe("   false");
  expect(alternatives([{ title: "one", term: "p" }])).toBe("   ; one\n   p");
  const two = alternatives([
    { title: "one", term: "p" },
    { title: "two", term: "q" },
  ]);
  expect(two).toBe("  (or\n   ; one\n   p\n   ; two\n   q\n  )");
});
