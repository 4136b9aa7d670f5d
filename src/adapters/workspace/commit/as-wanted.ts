/** Tests whether the workspace already has an entry in its wanted state: after a crash, or by other writers. */
import { readlinkSync } from "node:fs";
import { absent, factsOf } from "../entry-facts.ts";
import { digestOf } from "../file-copy.ts";
import type { StagedEntry } from "./staged-change.ts";
import type { TargetWalk } from "./target-walk.ts";

export function isAsWanted(walk: TargetWalk, entry: StagedEntry): boolean {
  const facts = walk.facts(entry.path);
  if (facts === undefined) return entry.after === absent;
  if (facts.type !== entry.after) return false;
  try {
    const { folder, name } = walk.parentOf(entry.path);
    const at = folder.at(name);
    if (facts.type === "link") return readlinkSync(at) === entry.target;
    if (facts.type === "folder") return (facts.mode & 0o777) === (entry.mode & 0o777);
    if (facts.type !== "file" || facts.bytes !== entry.bytes) return false;
    if ((facts.mode & 0o777) !== (entry.mode & 0o777)) return false;
    return entry.digest !== undefined && digestOf(at) === entry.digest && factsOf(at)?.stamp === facts.stamp;
  } catch {
    return false;
  }
}
