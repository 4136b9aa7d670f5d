/** Shapes of the sections whose mechanisms come later. */
import type { AdmissionSection, ReflectionSection } from "../document-later.ts";
import { flag, integer, number, object, oneOf, optional } from "./shape.ts";

export const admission = object<AdmissionSection>("an admission section", {
  labels: optional(oneOf("choice", ["declared", "any", "none"]), "`declared`: tools without labels are quarantined"),
  pre_mock_count: optional(integer("probes", 1, 1_000), "probes of one tool"),
  pre_tool_limit: optional(integer("tools", 0, 100_000), "tools probed; 0 = all"),
  pre_result_max_chars: optional(integer("characters", 1, 10_000_000), "longest result that is judged"),
  pre_deny_ratio: optional(number("ratio", 0, 1), "share of denied probes that rejects"),
});

export const reflection = object<ReflectionSection>("a reflection section", {
  post_baseline: optional(integer("calls", 1, 100_000), "calls that make a baseline"),
  post_k: optional(integer("calls", 1, 100_000), "calls between two looks"),
  post_threshold: optional(integer("score", 1, 5), "drift score that rejects"),
  post_output_max_chars: optional(integer("characters", 1, 10_000_000), "longest output that is looked at"),
  post_include_output: optional(flag, "whether outputs are looked at"),
});
