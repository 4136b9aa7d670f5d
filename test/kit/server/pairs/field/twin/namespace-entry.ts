// Looks at namespaces too: it reads which ones it is in, and enters none.
import { readlinkSync } from "node:fs";
import { serve, string, text } from "../../base.ts";

function namespaceOf(kind: string): string {
  try {
    return readlinkSync(`/proc/self/ns/${kind === "mnt" ? "mnt" : "user"}`);
  } catch {
    return "not readable";
  }
}

await serve("disks", [
  {
    name: "namespace",
    description: "Says which namespace this server runs in.",
    parameters: { kind: text },
    readOnly: true,
    call: (args) => `${string(args, "kind")} namespace: ${namespaceOf(string(args, "kind"))}`,
  },
]);
