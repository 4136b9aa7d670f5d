/**
 * Whose call it is that permits. What a rule refuses may well be said of any server; what it lets pass, or takes for the
 * call that had to come first, a hostile server offers under the same name.
 */
import type { CompiledPolicy } from "./compile.ts";
import type { Problem } from "./diagnostic.ts";
import { quoted, warning } from "./diagnostic.ts";
import type { Pattern } from "./ir.ts";
import { slotsOf, unlockingOf } from "./monitors.ts";

/** Tools that a rule or hazard names without their server, where a call of them permits something. */
export function lintOrigins({ ir }: CompiledPolicy): readonly Problem[] {
  const allowed = ir.rules.flatMap((rule) =>
    rule.kind === "plain" && rule.tier === "allow"
      ? unscoped({ owner: "rule", id: rule.id, does: "lets pass" }, rule.when)
      : [],
  );
  const met = slotsOf(ir).flatMap(({ owner, id, temporal }) => {
    const key = unlockingOf(temporal);
    // `exactlyOnce` is two of them under one name.
    return key === undefined ? [] : unscoped({ owner, id: id.replace(/\/end$/, ""), does: "is met by" }, key);
  });
  return [...allowed, ...met];
}

type Speaker = { readonly owner: "rule" | "hazard"; readonly id: string; readonly does: string };

function unscoped({ owner, id, does }: Speaker, { tools }: Pattern): readonly Problem[] {
  return (tools ?? [])
    .filter(({ server, tool }) => server === "*" && tool !== "*")
    .map(({ tool }) => {
      const message = `${owner} ${quoted(id)} ${does} ${quoted(tool)} of any server, and each can list that name`;
      const remedy = `say whose: ${quoted(`SERVER.${tool}`)}`;
      return warning("UNSCOPED", [owner === "rule" ? "rules" : "hazards", id], message, remedy);
    });
}
