/**
 * Findings about injected calls that refer to an argument which the call that needs them cannot have, as far as the
 * schemas of listed tools say: each such call would be refused.
 */
import { type Json, type JsonObject, isObject, member } from "../../core/json.ts";
import type { ToolContract } from "../../core/contract.ts";
import { pointerTokens } from "../../core/pointer.ts";
import { type Problem, quoted, warning } from "../document/diagnostic.ts";
import type { Ir, Pattern } from "../ir/ir.ts";
import { placesIn } from "../values/references.ts";

/** A tool as its server lists it, and what the policy makes of it. */
export type Listed = { readonly contract: ToolContract; readonly listed: JsonObject };

/** `matches` says whether a pattern may speak of a tool, as far as name, effects and flags tell. */
export function lintReferences(
  { rules }: Ir,
  tools: readonly Listed[],
  matches: (pattern: Pattern, contract: ToolContract) => boolean,
): readonly Problem[] {
  return rules.flatMap((rule) => {
    if (rule.kind !== "temporal" || rule.temporal.kind !== "inject") return [];
    const { before, arguments: template } = rule.temporal;
    const places = placesIn(template);
    return tools
      .filter(({ contract }) => matches(before, contract))
      .flatMap(({ contract: { server, tool }, listed }) =>
        places
          .filter((place) => !mayHave(member(listed, "inputSchema"), place))
          .map((place) => {
            const message = `${quoted(`${server}.${tool}`)} declares no ${quoted(place)}, to which rule ${quoted(rule.id)} refers: such calls are refused`;
            const remedy = "name an argument that it declares, or narrow `before`";
            return warning("REFERENCE", ["rules", rule.id], message, remedy);
          }),
      );
  });
}

/** Whether a schema leaves the place open; what it says by other means than `properties` is not looked at. */
function mayHave(schema: Json | undefined, place: string): boolean {
  let at = schema;
  for (const token of pointerTokens(place) ?? []) {
    const properties = member(at, "properties");
    if (!isObject(properties)) return true;
    at = member(properties, token);
    if (at === undefined) return false;
  }
  return true;
}
