/** Shapes of the sections whose mechanisms come later. */
import type { AdmissionSection, IsolationSection, ReflectionSection } from "../document-later.ts";
import { flag, integer, list, number, object, oneOf, optional, text } from "./shape.ts";

export const isolation = object<IsolationSection>("an isolation section", {
  required: optional(flag, "start only if servers can be isolated"),
  trace_mode: optional(oneOf("trace mode", ["auto", "full", "none"]), "which events are traced"),
  persist_workspace: optional(flag, "keep the overlay"),
  link_inputs: optional(flag, "read-only lower layer"),
  allowed_paths: optional(list(text("path")), "folders in scope"),
  allowed_domains: optional(list(text("domain")), "domains in scope"),
  exec_trace_whitelisted: optional(list(text("program")), "programs that need no judge"),
  callTimeoutMs: optional(integer("milliseconds", 1, 86_400_000), "longest call"),
});

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
