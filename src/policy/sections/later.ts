/**
 * The sections `admission` and `reflection`, which no mechanism reads yet. They are parsed, checked and kept, and `policy
 * check` reports that they are not active, so that a policy does not seem to protect where nothing does.
 */
import { type Reporter, information } from "../document/diagnostic.ts";
import { given } from "../../core/given.ts";
import { type Infer, flag, integer, number, object, oneOf, optional } from "../document/shape.ts";

const admission = object("an admission section", {
  labels: optional(oneOf("choice", ["declared", "any", "none"]), "`declared`: tools without labels are quarantined"),
  pre_mock_count: optional(integer("probes", 1, 1_000), "probes of one tool"),
  pre_tool_limit: optional(integer("tools", 0, 100_000), "tools probed; 0 = all"),
  pre_result_max_chars: optional(integer("characters", 1, 10_000_000), "longest result that is judged"),
  pre_deny_ratio: optional(number("ratio", 0, 1), "share of denied probes that rejects"),
});

const reflection = object("a reflection section", {
  post_baseline: optional(integer("calls", 1, 100_000), "calls that make a baseline"),
  post_k: optional(integer("calls", 1, 100_000), "calls between two looks"),
  post_threshold: optional(integer("score", 1, 5), "drift score that rejects"),
  post_output_max_chars: optional(integer("characters", 1, 10_000_000), "longest output that is looked at"),
  post_include_output: optional(flag, "whether outputs are looked at"),
});

export const shape = { admission, reflection };

export type LaterSections = {
  readonly admission?: Infer<typeof admission>;
  readonly reflection?: Infer<typeof reflection>;
};

export function canonical(document: LaterSections): LaterSections {
  return given<LaterSections>({ admission: document.admission, reflection: document.reflection });
}

export function compile(policy: LaterSections, report: Reporter): void {
  for (const section of ["admission", "reflection"] as const) {
    if (policy[section] === undefined) continue;
    const message = `\`${section}\` is checked, but not active yet in this version`;
    report(information("INACTIVE", [section], message, "do not rely on it"));
  }
}
