/** A session that has listed its tools, calls of them, and a mechanism that judges them by name. */
import type { Opinion, Reason } from "../../../src/core/opinion.ts";
import type { Verdict } from "../../../src/core/verdict.ts";
import type { FakeMechanism } from "./fake-policy.ts";

/** Settles moments of one kind for tools whose name starts so; everything else is allowed. */
export function verdictAt(kind: string, prefix: string, verdict: Verdict, more: Partial<Reason> = {}): FakeMechanism {
  return {
    consider: ({ moment }): Opinion => {
      const hit = "contract" in moment && moment.kind === kind && moment.contract.tool.startsWith(prefix);
      const reason: Reason = { mechanism: "fake", code: "SG-TEST", verdict, facts: {}, ...more };
      const decided = hit ? verdict : "allow";
      return { kind: "settled", verdict: decided, reasons: hit ? [reason] : [], obligations: [] };
    },
  };
}

const list = { id: "l", method: "tools/list" };
const names = ["read_file", "send_mail", "read_secret", "delete_all"];
export const listed = { id: "l", result: { tools: names.map((name) => ({ name, inputSchema: { type: "object" } })) } };
export const setup = [
  { client: ">>", message: list },
  { server: "<<", message: list },
  { server: ">>", message: listed },
  { client: "<<", message: listed },
] as const;

export function callOf(id: number | string, name: string, given = {}) {
  return { id, method: "tools/call", params: { name, arguments: given } };
}
