/** One setting said in the paper's words and in ours, in one file: whichever held, a reader would believe the other. */
import type { Problem } from "../diagnostic.ts";
import { problem } from "../diagnostic.ts";
import type { IsolationSection } from "../document-isolation.ts";

type Pair = readonly [paper: keyof IsolationSection, ours: string, said: (section: IsolationSection) => unknown];

const pairs: readonly Pair[] = [
  ["required", "require", (section) => section.require],
  ["trace_mode", "trace", (section) => section.trace ?? section.defaults?.trace],
  ["trace", "defaults.trace", (section) => section.defaults?.trace],
  ["onViolation", "defaults.onViolation", (section) => section.defaults?.onViolation],
  ["persist_workspace", "defaults.files.workspace.per", (section) => section.defaults?.files?.workspace?.per],
  ["link_inputs", "defaults.files.workspace.mode", (section) => section.defaults?.files?.workspace?.mode],
  ["allowed_paths", "defaults.files.read", (section) => section.defaults?.files?.read],
  ["allowed_domains", "defaults.net", (section) => section.defaults?.net?.allow ?? section.defaults?.net?.mode],
  ["callTimeoutMs", "defaults.limits.callTimeoutMs", (section) => section.defaults?.limits?.callTimeoutMs],
];

export function saidTwice(section: IsolationSection): readonly Problem[] {
  return pairs
    .filter(([paper, , said]) => section[paper] !== undefined && said(section) !== undefined)
    .map(([paper, ours]) => {
      const message = `\`${paper}\` and \`${ours}\` say the same thing twice`;
      return { ...problem("SCOPE-CONFLICT", ["isolation", paper], message, "keep one of them"), atKey: true as const };
    });
}
