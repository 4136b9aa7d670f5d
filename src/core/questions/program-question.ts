/**
 * The question to a program of a policy: whether its rule refuses a call (policy.md 1). The question holds the program, so
 * the oracle needs no policy; only the answer is logged and replayed.
 */
import { type Json, type JsonObject, isObject, member, stringMember } from "../json.ts";

/** Kind of the question; the content is a `ProgramContext` as JSON. */
export const programQuestionKind = "program";

export type ProgramCall = { readonly server: string; readonly tool: string; readonly arguments: JsonObject };

export type ProgramContext = ProgramCall & {
  /** SHA-256 of `source`. */
  readonly program: string;
  /** Name of the exported function. */
  readonly name: string;
  readonly source: string;
};

/** Reads the content of a question; undefined for any other JSON. */
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
