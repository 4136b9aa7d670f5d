/**
 * The scope of a server in mode `learn`: every access that is not sensitive is open and traced, and places that give
 * access to keys stay shut. The projection itself opens files and network for such an order; this file sets the rest.
 */
import type { Scope } from "../../core/isolation/scope.ts";
import { sensitivePlaces } from "./sensitive.ts";

export function learnedScope(scope: Scope): Scope {
  const { files, net } = scope;
  const named = new Set([...files.read, ...files.write]);
  // A place that the user names twice is intended.
  const shut = sensitivePlaces.filter((place) => !named.has(place));
  return {
    ...scope,
    files: { ...files, deny: [...new Set([...files.deny, ...shut])].toSorted() },
    net: net.mode === "none" ? { ...net, mode: "list" } : net,
    exec: { mode: "any", programs: [] },
    trace: "full",
  };
}
