/** The judge of isolation: asked about acts, opening nothing unless that is asked for, and declared where judges are. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { loadPolicy } from "../load.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const judges = 'judges: {j: {url: "http://127.0.0.1:1/v1", model: m}}';

function load(text: string) {
  return loadPolicy({ file: "p.yaml", text: `version: 1\n${text}\n` }, { loader: () => undefined, hash });
}

test("without a word only acts are judged, and distrust asks a person", () => {
  const { policy, diagnostics } = load(`isolation: {judge: {use: j}}\n${judges}`);
  expect(policy?.isolation?.judge).toEqual({ use: "j", effects: true, domains: false, onDistrust: "confirm" });
  expect(diagnostics).toEqual([]);
  const said = load(`isolation: {judge: {use: j, domains: true, effects: false, onDistrust: deny}}\n${judges}`);
  expect(said.policy?.isolation?.judge).toEqual({ use: "j", effects: false, domains: true, onDistrust: "deny" });
  expect(load("isolation: {}").policy?.isolation?.judge).toBeUndefined();
});

test("a judge that is not declared is refused, with the nearest name", () => {
  const codes = (text: string) => load(text).diagnostics.map(({ code, remedy }) => [code, remedy]);
  expect(codes("isolation: {judge: {use: j}}")).toEqual([["SG-POLICY-JUDGE", "declare it under `judges`"]]);
  expect(codes(`isolation: {judge: {use: jj}}\n${judges}`)[0]?.[0]).toBe("SG-POLICY-JUDGE");
});
