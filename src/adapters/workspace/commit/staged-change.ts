/**
 * A change that is being applied to a workspace, or is held for review: a private folder `changes/ID` below the state
 * folder with a manifest, the new files, and a journal of what has reached the workspace. It holds everything needed to
 * finish without the server, whose projection vanishes with it.
 */
import { closeSync, constants, fsyncSync, openSync, readFileSync, renameSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Json, isArray, isObject, member, stringMember } from "../../../core/json.ts";
import { syncFolder } from "../../sync-folder.ts";
import type { Difference } from "../difference.ts";
import { manifestBytesMax } from "../workspace-limits.ts";

export type StagedEntry = Pick<
  Difference,
  "path" | "kind" | "before" | "after" | "bytes" | "mode" | "target" | "base"
> & {
  /** Name below `files/` of the new content of a file, and its SHA-256 in hex. */
  readonly blob?: string;
  readonly digest?: string;
  /** Reason why the gateway never writes this entry, even on the user's request. */
  readonly guarded?: string;
  /** Reason why it waits, if the policy did not order that. */
  readonly reason?: string;
};

export type StagedChange = {
  readonly id: string;
  /** Real path of the workspace. */
  readonly workspace: string;
  readonly run: string;
  readonly server: string;
  readonly call: string;
  readonly wallMs: number;
  /** `applying`: accepted; the process that finds it unfinished finishes it. */
  readonly state: "applying" | "held";
  readonly reason?: string;
  readonly entries: readonly StagedEntry[];
};

/** Path of the folder with all staged and held changes. */
export function changesFolder(stateFolder: string): string {
  return join(stateFolder, "changes");
}

/**
 * Writes the manifest so that after a crash either the old or the new one is there, whole; where it is `durable` also
 * after a power cut. A held change always is.
 */
export function writeManifest(folder: string, change: StagedChange, durable = change.state === "held"): void {
  const fresh = join(folder, "manifest.new");
  const descriptor = openSync(fresh, "w", 0o600);
  try {
    const bytes = Buffer.from(JSON.stringify({ version: 1, ...change }));
    for (let sent = 0; sent < bytes.length;) sent += writeSync(descriptor, bytes, sent);
    if (durable) fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(fresh, join(folder, "manifest.json"));
  if (durable) syncFolder(folder);
}

/** Reads the manifest of a staged change; undefined if it is missing or invalid. */
export function readManifest(folder: string): StagedChange | undefined {
  try {
    const path = join(folder, "manifest.json");
    if (statSync(path).size > manifestBytesMax) return undefined;
    // Parsing edge: every member is looked at below.
    return parseChange(JSON.parse(readFileSync(path, "utf8")) as Json);
  } catch {
    return undefined;
  }
}

function parseChange(value: Json): StagedChange | undefined {
  const listed = member(value, "entries");
  const state = stringMember(value, "state");
  const [id, workspace] = [stringMember(value, "id"), stringMember(value, "workspace")];
  const wallMs = member(value, "wallMs");
  if (!isArray(listed) || id === undefined || workspace === undefined || typeof wallMs !== "number") return undefined;
  if (member(value, "version") !== 1 || (state !== "applying" && state !== "held")) return undefined;
  const entries = listed.map(parseEntry);
  const [run, server, call] = ["run", "server", "call"].map((name) => stringMember(value, name) ?? "");
  const reason = stringMember(value, "reason");
  const known = entries.filter((entry) => entry !== undefined);
  if (known.length < entries.length) return undefined;
  return {
    id,
    workspace,
    run: run ?? "",
    server: server ?? "",
    call: call ?? "",
    wallMs,
    state,
    ...(reason === undefined ? {} : { reason }),
    entries: known,
  };
}

const types = ["file", "folder", "link", "special", "none"] as const;
const kinds = ["added", "modified", "deleted", "mode", "link", "special"] as const;

function parseEntry(value: Json): StagedEntry | undefined {
  if (!isObject(value)) return undefined;
  const text = (name: string): string | undefined => stringMember(value, name);
  const kind = kinds.find((one) => one === text("kind"));
  const before = types.find((one) => one === text("before"));
  const after = types.find((one) => one === text("after"));
  const [bytes, mode] = [member(value, "bytes"), member(value, "mode")];
  const [path, base] = [text("path"), text("base")];
  if (kind === undefined || before === undefined || after === undefined || path === undefined) return undefined;
  if (typeof bytes !== "number" || typeof mode !== "number" || base === undefined) return undefined;
  const [target, blob, digest] = [text("target"), text("blob"), text("digest")];
  const [guarded, reason] = [text("guarded"), text("reason")];
  return {
    path,
    kind,
    before,
    after,
    bytes,
    mode,
    base,
    ...(target === undefined ? {} : { target }),
    // Valid names are numbers: no other text may become part of a path.
    ...(blob === undefined || !/^\d+$/.test(blob) ? {} : { blob }),
    ...(digest === undefined ? {} : { digest }),
    ...(guarded === undefined ? {} : { guarded }),
    ...(reason === undefined ? {} : { reason }),
  };
}

/** Makes the content of a file durable. */
export function syncFile(path: string): void {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
