/** Acts on files, from the calls that can bring them about. */
import { type FileCall, fileCalls, type PathAt } from "./file-calls.ts";
import type { Notification, Surroundings } from "./notification.ts";
import { writingFlags } from "../notify-filter.ts";
import type { Act } from "../record.ts";
import { type Found, permission, workingFolder } from "./server-files.ts";

const accessBits = 0x3;
const create = 0x40;
const exclusive = 0x80;
const temporaryFile = 0x400000; // O_TMPFILE without O_DIRECTORY

/**
 * The act of an open call, with its flags read from the argument or from memory. Undefined if there is nothing to
 * record.
 */
export function openAct(seen: Notification, around: Surroundings): Act | undefined {
  const at = openArguments(seen, around);
  const path = around.memory.text(seen.thread, at.path);
  // The kernel cannot read the path either, so it opens nothing.
  if (path === undefined || at.flags === undefined) return undefined;
  const file = around.files.absolute(seen.thread, at.folder, path) ?? path;
  if ((at.flags & writingFlags) === 0) {
    return around.level === "effects" ? undefined : act("file-read", around.files.look(file, permission.read));
  }
  if ((at.flags & temporaryFile) !== 0) {
    return { ...act("file-create", around.files.look(file, permission.write)), extra: "O_TMPFILE" };
  }
  const wanted = (at.flags & accessBits) === 1 ? permission.write : permission.write | permission.read;
  const found = around.files.look(file, wanted);
  if (found.outcome === "missing" && (at.flags & create) !== 0) {
    return act("file-create", around.files.lookBeside(file));
  }
  const taken = (at.flags & create) !== 0 && (at.flags & exclusive) !== 0;
  return act("file-write", taken && found.outcome === "unknown" ? { ...found, outcome: "failed" } : found);
}

/** `target` is the real path behind links: the file that the act affects. */
function act(action: Act["action"], found: Found): Act {
  const outcome = found.outcome === "missing" ? "failed" : found.outcome;
  return { action, outcome, path: found.shown, ...(found.real === undefined ? {} : { target: found.real }) };
}

type OpenArguments = { readonly folder: number; readonly path: number; readonly flags: number | undefined };

function openArguments(seen: Notification, around: Surroundings): OpenArguments {
  if (seen.call === "open") return { folder: workingFolder, path: seen.whole(0), flags: seen.low(1) };
  if (seen.call === "creat") return { folder: workingFolder, path: seen.whole(0), flags: create | 1 };
  if (seen.call === "openat") return { folder: seen.low(0), path: seen.whole(1), flags: seen.low(2) };
  // openat2 keeps its flags in memory; those above 32 bits mean nothing that matters here.
  const how = around.memory.read(seen.thread, seen.whole(2), 8);
  const flags = how === undefined || how.length < 8 ? undefined : how.readUInt32LE(0);
  return { folder: seen.low(0), path: seen.whole(1), flags };
}

/** A call that changes a file by its name, or undefined where it is none of those. */
export function namedFileAct(seen: Notification, around: Surroundings): Act | undefined {
  const call = fileCalls[seen.call];
  const path = call === undefined ? undefined : pathAt(call.from, seen, around);
  if (call === undefined || path === undefined) return undefined;
  const target = call.to === undefined ? undefined : pathAt(call.to, seen, around);
  return {
    ...named(call.action, path, call.needs, around),
    ...(target === undefined ? {} : { target: around.files.lookBeside(target).shown }),
    ...(call.extra === undefined ? {} : { extra: call.extra }),
  };
}

/** The act of creating a symbolic link: its target is text that is not resolved here, so it is recorded as given. */
export function symlinkAct(seen: Notification, around: Surroundings): Act | undefined {
  const path = pathAt(seen.call === "symlink" ? { path: 1 } : { folder: 1, path: 2 }, seen, around);
  if (path === undefined) return undefined;
  const target = around.memory.text(seen.thread, seen.whole(0));
  return {
    ...named("file-link", path, "absent", around),
    ...(target === undefined ? {} : { target }),
    extra: "symlink",
  };
}

/** `fchmod` and `fchown`: the file is behind a descriptor. */
export function descriptorAct(seen: Notification, around: Surroundings): Act {
  const path = around.files.base(seen.thread, seen.low(0));
  const extra = seen.call === "fchmod" ? "chmod" : "chown";
  return { action: "file-permissions", outcome: "unknown", ...(path === undefined ? {} : { path }), extra };
}

function pathAt(at: PathAt, seen: Notification, around: Surroundings): string | undefined {
  const folder = at.folder === undefined ? workingFolder : seen.low(at.folder);
  // Without a path such calls mean the descriptor itself (utimensat(2), and AT_EMPTY_PATH).
  if (seen.whole(at.path) === 0) return around.files.base(seen.thread, folder);
  const text = around.memory.text(seen.thread, seen.whole(at.path));
  if (text === "") return around.files.base(seen.thread, folder);
  return text === undefined ? undefined : (around.files.absolute(seen.thread, folder, text) ?? text);
}

/** Names are entries of a folder: the folder's permissions decide, and a link means the link itself, not its target. */
function named(action: Act["action"], path: string, needs: FileCall["needs"], around: Surroundings): Act {
  const there = around.files.look(path, 0, "keep").outcome;
  const beside = around.files.lookBeside(path);
  const failed = (there === "missing") === (needs === "present");
  return act(action, failed && there !== "denied" ? { ...beside, outcome: "failed" } : beside);
}
