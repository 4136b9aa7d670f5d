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
  expect(policy?.isolation?.judge).toEqual({
    use: "j",
    effects: true,
    domains: false,
    onDistrust: "confirm",
    programs: [],
  });
  expect(diagnostics).toEqual([]);
  const said = load(`isolation: {judge: {use: j, domains: true, effects: false, onDistrust: deny}}\n${judges}`);
  expect(said.policy?.isolation?.judge).toEqual({
    use: "j",
    effects: false,
    domains: true,
    onDistrust: "deny",
    programs: [],
  });
  expect(load("isolation: {}").policy?.isolation?.judge).toBeUndefined();
});

test("D26: `exec_trace_whitelisted: false` exempts trusted servers from the judge, and nothing else does", () => {
  const servers = "servers: {a: {trust: trusted}, b: {trust: untrusted}, c: {}}";
  const unjudged = (said: string): readonly string[] => [
    ...(load(`isolation: {${said}}\n${servers}`).policy?.isolation?.unjudged ?? ["nothing compiled"]),
  ];
  expect(unjudged("exec_trace_whitelisted: false")).toEqual(["a"]);
  expect(unjudged("exec_trace_whitelisted: true")).toEqual([]);
  expect(unjudged("trace_mode: py")).toEqual([]);
  const list = load("isolation: {exec_trace_whitelisted: [git]}").diagnostics;
  expect(list.map(({ severity }) => severity)).toEqual(["error"]);
  const odd = load(`isolation: {judge: {use: j, programs: ["*"]}}\n${judges}`).diagnostics;
  expect(odd.map(({ code }) => code)).toEqual(["SG-POLICY-SCOPE-PATH"]);
});

test("D26: the paper's empty `allowed_domains` lets a call reach what its arguments name, and asks the judge", () => {
  const net = (text: string) => load(`isolation: {${text}}`).policy?.isolation?.orderOf("s").scope.net;
  expect(net("allowed_domains: []")).toMatchObject({ mode: "list", allow: [] });
  expect(net("allowed_paths: []")).toMatchObject({ mode: "none", allow: [] });
  expect(net("defaults: {net: {allow: []}}")).toMatchObject({ mode: "none" });
  expect(net("allowed_domains: [], servers: {s: {net: {mode: none}}}")).toMatchObject({ mode: "none" });
  const twice = load("isolation: {allowed_domains: [], defaults: {net: {mode: none}}}").diagnostics;
  expect(twice.map(({ code }) => code)).toEqual(["SG-POLICY-SCOPE-CONFLICT"]);
});

test("a judge that is not declared is refused, with the nearest name", () => {
  const codes = (text: string) => load(text).diagnostics.map(({ code, remedy }) => [code, remedy]);
  expect(codes("isolation: {judge: {use: j}}")).toEqual([["SG-POLICY-JUDGE", "declare it under `judges`"]]);
  expect(codes(`isolation: {judge: {use: jj}}\n${judges}`)[0]?.[0]).toBe("SG-POLICY-JUDGE");
});
