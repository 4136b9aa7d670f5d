/**
 * What isolation says, in one clause, for whoever is refused or asked. It does not say which check noticed what: a server
 * could otherwise learn by trying. People and the audit record get the facts.
 */
import type { Reason } from "./opinion.ts";

/** The clause for a reason of isolation; undefined for any other code. `tool` is the call in words. */
export function isolationClause(reason: Reason, tool: string): string | undefined {
  switch (reason.code) {
    case "SG-SCOPE-FILE":
    case "SG-SCOPE-NET":
    case "SG-SCOPE-PROCESS":
    case "SG-SCOPE-LIMIT":
    case "SG-SCOPE-WORKSPACE":
    case "SG-EFFECT":
      return `${tool} did what it may not`;
    case "SG-SUSPICION":
      return `what ${tool} did has to be looked at first`;
    case "SG-EVIDENCE":
      return `what ${tool} did could not be watched`;
    case "SG-DISTRUST":
      return `the server of ${tool} has done what it may not in this run`;
    case "SG-BACKGROUND":
      return `${tool} is of a server that works between calls`;
    default:
      return undefined;
  }
}
