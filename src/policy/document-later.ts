/**
 * Sections whose mechanisms come later (lifecycle.md, foresight.md). They are parsed, checked and kept, and `policy
 * check` says that they are not active yet, so that nobody believes in a protection that is not there.
 */

export type AdmissionSection = {
  readonly labels?: "declared" | "any" | "none";
  readonly pre_mock_count?: number;
  readonly pre_tool_limit?: number;
  readonly pre_result_max_chars?: number;
  readonly pre_deny_ratio?: number;
};

export type ReflectionSection = {
  readonly post_baseline?: number;
  readonly post_k?: number;
  readonly post_threshold?: number;
  readonly post_output_max_chars?: number;
  readonly post_include_output?: boolean;
};
