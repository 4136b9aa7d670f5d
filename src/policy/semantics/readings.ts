/** Readings in words: for refusals that a reading would have spared, and for `policy explain`. */
import type { ToolContract } from "../../core/contract.ts";
import type { JsonObject } from "../../core/json.ts";
import type { ReadingLanguage } from "../../core/reading.ts";
import type { ArgumentTest, Predicate } from "../ir/ir.ts";
import { pointerValue } from "../values/pointer.ts";
import { nothingRead } from "./argument-tests.ts";
import type { Frame } from "./transition.ts";

/** What a value of the language is that only reads. */
const plain: { readonly [language in ReadingLanguage]: string } = {
  docker: "a listed call of docker",
  git: "a listed call of git",
  http: "a plain GET",
  kubectl: "a listed call of kubectl",
  shell: "listed commands",
  sql: "a plain SELECT",
  "sql:mariadb": "a plain SELECT of MariaDB",
  "sql:mysql": "a plain SELECT of MySQL",
  "sql:postgres": "a plain SELECT of PostgreSQL",
  "sql:sqlite": "a plain SELECT of SQLite",
  ssh: "listed commands over ssh",
};

/** Names come from servers and policies; what is no plain name is left out. */
function shownArgument(name: string): string {
  return /^[\w./-]{1,64}$/.test(name) ? `\`${name}\`` : "an argument";
}

/** Languages of which a test wants the value. */
function languagesIn(test: ArgumentTest): readonly ReadingLanguage[] {
  if (test.kind === "reads") return [test.language];
  if (test.kind === "all" || test.kind === "any") return test.tests.flatMap(languagesIn);
  return test.kind === "some" ? languagesIn(test.test) : [];
}

/**
 * The first argument that no case of the tool took for a read, and why, as a clause: "`sql` was not read as a plain SELECT of
 * PostgreSQL: it calls pg_sleep". Undefined where no case asks for a reading, or one of them holds.
 */
export function unreadClause(
  { ir, read = nothingRead }: Frame,
  { cases }: Pick<ToolContract, "cases">,
  call: { readonly truths: ReadonlyMap<number, boolean>; readonly arguments: JsonObject },
): string | undefined {
  let clause: string | undefined;
  for (const { predicates, effects } of cases) {
    const asked = predicates.flatMap((index) => ir.predicates[index] ?? []).filter((one) => one.kind === "argument");
    const languages = asked.map(({ test }) => languagesIn(test));
    if (effects === undefined || languages.every((some) => some.length === 0)) continue;
    if (predicates.every((index) => call.truths.get(index) === true)) return undefined;
    for (const [at, { argument }] of asked.entries()) {
      const value = pointerValue(call.arguments, argument);
      const language = languages[at]?.[0];
      if (clause !== undefined || value === undefined || language === undefined) continue;
      const found = read(language, value);
      if (found.kind !== "reads")
        clause = `${shownArgument(argument)} was not read as ${plain[language]}: ${found.because}`;
    }
  }
  return clause;
}

/** The conditions of a case, joined by "and". */
export function conditionText(predicates: readonly Predicate[]): string {
  return predicates.map(conditionOf).join(" and ");
}

function conditionOf(predicate: Predicate): string {
  if (predicate.kind === "workspace") return "every path is in the workspace";
  const { argument, test } = predicate;
  const name = shownArgument(argument);
  if (test.kind === "not" && test.test.kind === "present") return `${name} is absent`;
  const [language] = languagesIn(test);
  return language === undefined ? `${name} passes its test` : `${name} is read as ${plain[language]}`;
}
