/** Shipped label packs that fit the tools of a server by their shape: an offer on its card, never a label by itself. */
import { type JsonObject, isObject, member, stringMember } from "../../core/json.ts";
import { parsePolicy } from "../../policy/canonical/policy-document.ts";
import { packNames, shippedLoader } from "../policy/policy-source.ts";

/** Share of the listed tools that a pack has to know by name and arguments. */
const shareMin = 0.6;

/** Of each tool the arguments that the pack names, and whether it says something of all others. */
type Known = { readonly args: readonly string[]; readonly rest: boolean };
type Shape = { readonly pack: string; readonly tools: ReadonlyMap<string, Known> };

let known: readonly Shape[] | undefined;

/** Names of packs, best first: by the share of the server's tools that they know, then by the share of their own tools that it lists. */
export function packsFitting(entries: readonly JsonObject[]): readonly string[] {
  if (entries.length === 0) return [];
  known ??= packNames().flatMap((name) => shapeOf(name) ?? []);
  return known
    .map(({ pack, tools }) => {
      const fitting = entries.filter((entry) => fits(tools, entry));
      return {
        pack,
        share: sameArguments(tools, fitting) ? fitting.length / entries.length : 0,
        used: fitting.length / tools.size,
      };
    })
    .filter(({ share }) => share >= shareMin)
    .toSorted((left, right) => right.share - left.share || right.used - left.used)
    .map(({ pack }) => pack);
}

/** A pack knows a tool if it says something of every argument that the schema lists. */
function fits(tools: Shape["tools"], entry: JsonObject): boolean {
  const tool = tools.get(nameOf(entry));
  return tool !== undefined && (tool.rest || argumentsOf(entry).every((name) => tool.args.includes(name)));
}

/** Some argument has to be there as well: names alone fit a server of any kind. Packs share one list of arguments among tools. */
function sameArguments(tools: Shape["tools"], fitting: readonly JsonObject[]): boolean {
  const named = fitting.flatMap((entry) => tools.get(nameOf(entry))?.args ?? []);
  return named.length === 0 || fitting.some((entry) => argumentsOf(entry).length > 0);
}

function nameOf(entry: JsonObject): string {
  return stringMember(entry, "name") ?? "";
}

function argumentsOf(entry: JsonObject): readonly string[] {
  const properties = member(member(entry, "inputSchema"), "properties");
  return isObject(properties) ? Object.keys(properties) : [];
}

function shapeOf(pack: string): Shape | undefined {
  const input = shippedLoader(pack, "");
  if (input === undefined) return undefined;
  const parsed = "text" in input ? parsePolicy(input.text, input.file) : undefined;
  const document = "document" in input ? input.document : parsed?.ok === true ? parsed.value.document : undefined;
  if (document?.pack === undefined) return undefined;
  const tools = Object.entries(document.labels ?? {}).map(
    ([tool, { args, rest }]) => [tool, { args: Object.keys(args ?? {}), rest: rest !== undefined }] as const,
  );
  return { pack, tools: new Map(tools) };
}
