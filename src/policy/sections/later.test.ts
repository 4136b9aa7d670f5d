/** The paper's configuration keys for stages that are not active: its zeros are taken with their meaning, bounded, and said. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { loadPolicy } from "../load.ts";
import { judgedCharactersMax } from "./later.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const load = (text: string) =>
  loadPolicy({ file: "p.yaml", text: `version: 1\n${text}` }, { loader: () => undefined, hash });
const said = (text: string): readonly string[] =>
  load(text).diagnostics.map(({ code, severity }) => `${severity} ${code}`);

const bounded = "info SG-POLICY-BOUNDED";
const inactive = "info SG-POLICY-INACTIVE";

test("D26: the paper's defaults are accepted, and a zero that means no limit becomes the largest bound, which is said", () => {
  const paper = "{pre_mock_count: 4, pre_tool_limit: 0, pre_result_max_chars: 0, pre_deny_ratio: 0.5}";
  expect(said(`admission: ${paper}`)).toEqual([bounded, inactive]);
  const post =
    "{post_k: 3, post_baseline: 5, post_threshold: 4, post_output_max_chars: 800, post_include_output: true}";
  expect(said(`reflection: ${post}`)).toEqual([inactive]);
  expect(said("reflection: {post_output_max_chars: 0}")).toEqual([bounded, inactive]);
  expect(said("admission: {pre_result_max_chars: 16384, pre_deny_ratio: 0}")).toEqual([inactive]);
  expect(said("admission: {}\nreflection: {}")).toEqual([inactive, inactive]);
  // The labels that admission asks for are active, whatever stands beside them.
  expect(said("admission: {labels: declared}")).toEqual([]);
  expect(load("admission: {labels: any, pre_mock_count: 4}").diagnostics.map(({ message }) => message)).toEqual([
    "`pre_mock_count` is checked, but not active yet in this version",
  ]);
});

test("D26: a zero and the bound are one setting, and no number goes beyond it", () => {
  const digestOf = (text: string) => load(text).policy?.digest;
  const max = String(judgedCharactersMax);
  expect(digestOf("admission: {pre_result_max_chars: 0}")).toBe(digestOf(`admission: {pre_result_max_chars: ${max}}`));
  expect(digestOf("admission: {pre_result_max_chars: 0}")).not.toBe(digestOf("admission: {pre_result_max_chars: 1}"));
  for (const key of ["pre_result_max_chars: -1", "pre_result_max_chars: 10000001", "pre_mock_count: 0"]) {
    expect(said(`admission: {${key}}`)[0]).toMatch(/^error/);
  }
});
