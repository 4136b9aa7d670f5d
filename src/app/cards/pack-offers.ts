/** Shipped label packs that fit the tools of a server by their shape: an offer on its card, never a label by itself. */
import { type JsonObject, isObject, member, stringMember } from "../../core/json.ts";
import { parsePolicy } from "../../policy/canonical/policy-document.ts";
import { packNames, shippedLoader } from "../policy/policy-source.ts";

/** Share of the listed tools that a pack has to know by name and arguments. */
const shareMin = 0.6;

type Shape = { readonly pack: string; readonly tools: ReadonlyMap<string, readonly string[]> };

let known: readonly Shape[] | undefined;

/** Names of packs, best first. */
export function packsFitting(entries: readonly JsonObject[]): readonly string[] {
  if (entries.length === 0) return [];
  known ??= packNames().flatMap((name) => shapeOf(name) ?? []);
  return known
    .map(({ pack, tools }) => ({ pack, share: entries.filter((entry) => fits(tools, entry)).length / entries.length }))
    .filter(({ share }) => share >= shareMin)
    .toSorted((left, right) => right.share - left.share)
    .map(({ pack }) => pack);
}

/** A pack knows a tool if the arguments that it labels are all in the schema. */
function fits(tools: Shape["tools"], entry: JsonObject): boolean {
  const args = tools.get(stringMember(entry, "name") ?? "");
  const properties = member(member(entry, "inputSchema"), "properties");
  const listed = isObject(properties) ? Object.keys(properties) : [];
  return args?.every((name) => listed.includes(name)) === true;
}

function shapeOf(pack: string): Shape | undefined {
  const input = shippedLoader(pack, "");
  if (input === undefined) return undefined;
  const parsed = "text" in input ? parsePolicy(input.text, input.file) : undefined;
  const document = "document" in input ? input.document : parsed?.ok === true ? parsed.value.document : undefined;
  if (document?.pack === undefined) return undefined;
  const tools = Object.entries(document.labels ?? {}).map(
    ([tool, { args }]) => [tool, Object.keys(args ?? {})] as const,
  );
  return { pack, tools: new Map(tools) };
}
