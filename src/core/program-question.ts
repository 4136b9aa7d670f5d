/**
 * What a program of the operator's is asked about a call: whether its rule refuses it (policy.md 1). The question brings
 * the program along, so that whoever answers needs no policy; only the answer is logged, and replayed.
 */
import type { Json, JsonObject } from "./json.ts";
import { isObject, member, stringMember } from "./json.ts";

export const programQuestionKind = "program";

export type ProgramCall = { readonly server: string; readonly tool: string; readonly arguments: JsonObject };

export type ProgramContext = ProgramCall & {
  /** SHA-256 of `source`. */
  readonly program: string;
  /** The function that it exports. */
  readonly name: string;
  readonly source: string;
};

export function programContextFrom(content: Json): ProgramContext | undefined {
  const program = stringMember(content, "program");
  const name = stringMember(content, "name");
  const source = stringMember(content, "source");
  const server = stringMember(content, "server");
  const tool = stringMember(content, "tool");
  const given = member(content, "arguments");
  if (program === undefined || name === undefined || source === undefined) return undefined;
  if (server === undefined || tool === undefined || !isObject(given)) return undefined;
  return { program, name, source, server, tool, arguments: given };
}
