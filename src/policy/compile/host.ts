/** The section `host` to the IR: what the client does without asking anybody (formal.md 4.1). */
import { openNames } from "../canonical.ts";
import type { CanonicalPolicy } from "../canonical/form.ts";
import type { HostCapability } from "../document.ts";
import type { HostPowers } from "../ir.ts";
import type { Scope } from "./patterns.ts";
import { reportStore } from "./patterns.ts";

export function compileHost(host: CanonicalPolicy["host"], scope: Scope): HostPowers {
  // Only `gated` is harmless: a list, even an empty one, opens the capability.
  const execute = host.execute !== "gated";
  for (const name of openNames(host.execute)) scope.labels.groupBits([name], ["host", "execute"]);
  return { send: audience(host.send, scope), read: readable(host.read, scope), execute };
}

function audience(capability: HostCapability, scope: Scope): number {
  if (capability === "gated") return 0;
  const groups = capability === "open" ? ["anyone"] : openNames(capability);
  return scope.labels.groupBits(groups, ["host", "send"]);
}

function readable(capability: HostCapability, scope: Scope): HostPowers["read"] {
  if (capability === "gated") return "gated";
  if (capability === "open") return "everything";
  const indices = new Set<number>();
  for (const name of openNames(capability)) {
    const store = scope.stores.indexOf(name);
    if (store >= 0) indices.add(store);
    else reportStore(name, ["host", "read"], scope);
  }
  return indices.size === 0 ? "gated" : [...indices].toSorted((left, right) => left - right);
}
