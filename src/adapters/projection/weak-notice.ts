/** The sentence for the operator when a server starts with less isolation than its policy's section stands for. */
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import type { Launched } from "./parts.ts";

/** Missing parts that the sentence names; `sluicegate doctor` names all. */
const partsNamedMax = 2;

const effects = {
  "A-": "by strace, without any network",
  B: "without mounts or a network of its own",
  C: "which confines nothing",
  none: "which is none",
} as const;

/** Undefined where the server has what can be had; a network that the policy opens itself costs it the best tier. */
export function weakNotice(
  order: IsolationOrder,
  { tier, notes }: Pick<Launched, "tier" | "notes">,
): string | undefined {
  if (tier === "A" || order.mode === "off") return undefined;
  if (order.mode === "where-possible" && tier === "none") {
    return `Server \`${order.server}\` is not isolated: it has your files, network and environment. ${notes[0] ?? ""}`.trim();
  }
  if (order.scope.net.mode === "open" && tier !== "C" && tier !== "none") return undefined;
  const why = notes.slice(0, partsNamedMax).join(" ");
  const more = notes.length > partsNamedMax ? " `sluicegate doctor` names every missing part." : "";
  return `Server \`${order.server}\` runs in isolation tier ${tier}, ${effects[tier]}. ${why}${more}`.trim();
}
