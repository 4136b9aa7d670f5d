/**
 * The sections `admission` and `reflection`. Of `admission` the member `labels` is active; no mechanism reads the others
 * yet. They are parsed, checked and kept, and `policy check` reports that they are not active, so that a policy does not
 * seem to protect where nothing does.
 */
import { type Reporter, information } from "../document/diagnostic.ts";
import { given } from "../../core/given.ts";
import { type Infer, flag, integer, number, object, oneOf, optional } from "../document/shape.ts";

/** Characters of one result or output. In the paper 0 means no limit; a server must not choose the size of a question. */
export const judgedCharactersMax = 10_000_000;
const textCharacters = integer("characters", 0, judgedCharactersMax);

const admission = object("an admission section", {
  labels: optional(
    oneOf("choice", ["declared", "any", "none"]),
    "`declared`: tools without labels are quarantined; `any`: they ask; `none`: labels that servers ship are not read",
  ),
  pre_mock_count: optional(integer("probes", 1, 1_000), "probes of one tool"),
  pre_tool_limit: optional(integer("tools", 0, 100_000), "tools probed; 0 = all"),
  pre_result_max_chars: optional(textCharacters, "characters of a result that are judged; 0 = as many as there can be"),
  pre_deny_ratio: optional(number("ratio", 0, 1), "share of denied probes that rejects"),
});

const reflection = object("a reflection section", {
  post_baseline: optional(integer("calls", 1, 100_000), "calls that make a baseline"),
  post_k: optional(integer("calls", 1, 100_000), "calls between two looks"),
  post_threshold: optional(integer("score", 1, 5), "drift score that rejects"),
  post_output_max_chars: optional(textCharacters, "characters of an output that are looked at; 0 as above"),
  post_include_output: optional(flag, "whether outputs are looked at"),
});

export const shape = { admission, reflection };

export type LaterSections = {
  readonly admission?: Infer<typeof admission>;
  readonly reflection?: Infer<typeof reflection>;
};

export function canonical(document: LaterSections): LaterSections {
  return given<LaterSections>({
    admission: document.admission && bounded(document.admission, "pre_result_max_chars"),
    reflection: document.reflection && bounded(document.reflection, "post_output_max_chars"),
  });
}

/** The paper's 0, which sets no limit, becomes the largest value there is. */
function bounded<T extends { readonly [key: string]: unknown }>(section: T, key: keyof T & string): T {
  return section[key] === 0 ? { ...section, [key]: judgedCharactersMax } : section;
}

export function compile(policy: LaterSections, report: Reporter): void {
  reportBound("admission", "pre_result_max_chars", policy.admission?.pre_result_max_chars, report);
  reportBound("reflection", "post_output_max_chars", policy.reflection?.post_output_max_chars, report);
  for (const section of ["admission", "reflection"] as const) {
    const members = policy[section];
    if (members === undefined) continue;
    const names = Object.keys(members);
    const idle = names.filter((name) => `${section}.${name}` !== "admission.labels");
    if (idle.length === 0 && names.length > 0) continue;
    const what = idle.length < names.length ? idle.map((name) => `\`${name}\``).join(", ") : `\`${section}\``;
    const message = `${what} is checked, but not active yet in this version`;
    report(information("INACTIVE", [section], message, "do not rely on it"));
  }
}

function reportBound(section: string, key: string, characters: number | undefined, report: Reporter): void {
  if (characters !== judgedCharactersMax) return;
  const message = `\`${key}\` ends at ${judgedCharactersMax} characters, the largest bound there is; 0 means the same`;
  report(information("BOUNDED", [section, key], message, "write a smaller number, for example 16384"));
}
