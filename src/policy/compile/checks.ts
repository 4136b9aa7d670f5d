/** Rules that ask a program of the operator's (policy.md 1), which may only add refusals. */
import type { RuleForm } from "../canonical/form.ts";
import { problem, quoted } from "../diagnostic.ts";
import type { Check } from "../ir.ts";
import { programUnitsMax } from "../limits.ts";
import type { Scope } from "./patterns.ts";
import { compilePattern } from "./patterns.ts";

export function compileCheck(rule: RuleForm, scope: Scope, hash: (text: string) => string): readonly Check[] {
  const { id, when, predicate, why, serves, mode } = rule;
  if (predicate === undefined) return [];
  const path = ["rules", id, "predicate"];
  const report = (message: string, remedy: string): void => scope.report(problem("PREDICATE", path, message, remedy));
  const { name, source } = predicate;
  if (rule.tier !== "block") {
    report(`a program can only refuse, and this rule has the tier ${quoted(rule.tier)}`, "write `tier: block`");
  }
  if (source.length > programUnitsMax) {
    report(`the program has more than ${programUnitsMax} characters`, "keep to what decides, in a file of its own");
  } else if (!exports(source, name)) {
    report(`the program exports no function ${quoted(name)}`, `write \`export function ${name}(call) { ... }\``);
  }
  if (when === undefined) {
    report(
      "a program says which of the calls of a `when` are refused",
      "add `when:`, with the calls it is asked about",
    );
    return [];
  }
  const pattern = compilePattern({ form: when, polarity: "restrict", path: ["rules", id, "when"] }, scope);
  const head = { id, tier: "block", why, serves, mode } as const;
  return [{ rule: { ...head, kind: "plain", when: pattern }, name, source, program: hash(source) }];
}

/** As far as a text shows it; whether it is a function at all is found out when the program is loaded. */
function exports(source: string, name: string): boolean {
  const escaped = name.replaceAll("$", String.raw`\$`);
  return new RegExp(String.raw`^\s*export\s+(?:function|const)\s+${escaped}(?![\w$])`, "m").test(source);
}
