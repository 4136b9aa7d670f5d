/** The package's own version, and the order of two versions. Daemon and command line must match exactly. */
import { readFileSync } from "node:fs";
import { parseJson } from "./protocol.ts";
import { stringMember } from "../../core/json.ts";

/** The package's own version, from package.json: its relative path is the same for the sources and the built files. */
export function ownVersion(): string {
  const text = readFileSync(new URL("../../../package.json", import.meta.url), "utf8");
  return stringMember(parseJson(text), "version") ?? "0.0.0";
}

/** True iff `left` is a later version than `right`. A pre-release comes before its release; unreadable parts are 0. */
export function isNewer(left: string, right: string): boolean {
  const [leftNumbers, leftTag] = split(left);
  const [rightNumbers, rightTag] = split(right);
  for (let index = 0; index < 3; index += 1) {
    const difference = (leftNumbers[index] ?? 0) - (rightNumbers[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  if (leftTag === "" || rightTag === "") return leftTag === "" && rightTag !== "";
  return leftTag.localeCompare(rightTag, "en", { numeric: true }) > 0;
}

function split(version: string): [readonly number[], string] {
  const dash = version.indexOf("-");
  const numbers = (dash < 0 ? version : version.slice(0, dash))
    .split(".")
    .map((part) => Number.parseInt(part, 10) || 0);
  return [numbers, dash < 0 ? "" : version.slice(dash + 1)];
}
