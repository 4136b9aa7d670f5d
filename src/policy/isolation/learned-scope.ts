/**
 * What `learn` makes of a scope: nothing is kept from a server that can be spared, everything is traced, and what gives
 * away keys stays shut. The projection opens files and network for such an order by itself; here is what a scope can say.
 */
import type { Scope } from "../../core/scope.ts";
import { sensitivePlaces } from "./sensitive.ts";

export function learnedScope(scope: Scope): Scope {
  const { files, net } = scope;
  const named = new Set([...files.read, ...files.write]);
  // Named twice by a person, a place is meant.
  const shut = sensitivePlaces.filter((place) => !named.has(place));
  return {
    ...scope,
    files: { ...files, deny: [...new Set([...files.deny, ...shut])].toSorted() },
    net: net.mode === "none" ? { ...net, mode: "list" } : net,
    exec: { mode: "any", programs: [] },
    trace: "full",
  };
}
