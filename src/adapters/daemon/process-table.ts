/** The processes of this machine as `/proc` shows them; where there is none, or one has ended, nothing is known. */
import { readFileSync, readdirSync, readlinkSync, statSync } from "node:fs";
import { attempt } from "../attempt.ts";
import type { ProcessTable } from "./terminal-origin.ts";

/** Major number of the first pseudo-terminals; minor numbers beyond 8 bits stand apart from the lower ones. */
const pseudoTerminalMajor = 136;

/** Index of a pseudo-terminal from a device number as `/proc/PID/stat` has it; undefined for a terminal of another kind. */
export function pseudoTerminalIndex(device: number): number | undefined {
  const major = (device >> 8) & 0xfff;
  const minor = (device & 0xff) | ((device >> 12) & 0xfff00);
  return major >= pseudoTerminalMajor && major < pseudoTerminalMajor + 8
    ? (major - pseudoTerminalMajor) * 256 + minor
    : undefined;
}

export const processTable: ProcessTable = {
  facts: (pid) => {
    const text = attempt(() => readFileSync(`/proc/${pid}/stat`, "latin1"), undefined);
    // The command name may itself contain spaces and brackets.
    const fields = text?.slice(text.lastIndexOf(")") + 2).split(" ");
    if (fields === undefined) return undefined;
    const [parent, session, terminal, startedAt] = [1, 3, 4, 19].map((index) => Number(fields[index]));
    return { parent: parent ?? 0, session: session ?? 0, terminal: terminal ?? 0, startedAt: startedAt ?? 0 };
  },
  group: (pid) => attempt(() => readFileSync(`/proc/${pid}/cgroup`, "utf8"), ""),
  holders: (terminal) => {
    const index = pseudoTerminalIndex(terminal);
    if (index === undefined) return [];
    const pids = attempt(() => readdirSync("/proc"), []).filter((name) => /^\d+$/.test(name));
    return pids.map(Number).filter((pid) => holdsMaster(pid, index));
  },
  listens: (pid) => {
    const own = new Set(descriptors(pid).flatMap((name) => socketOf(pid, name)));
    return own.size > 0 && listeningSockets().some((inode) => own.has(inode));
  },
};

function descriptors(pid: number): readonly string[] {
  return attempt(() => readdirSync(`/proc/${pid}/fd`), []);
}

function linkOf(pid: number, name: string): string {
  return attempt(() => readlinkSync(`/proc/${pid}/fd/${name}`), "");
}

function holdsMaster(pid: number, index: number): boolean {
  return descriptors(pid).some((name) => {
    if (!/^\/dev\/(?:pts\/)?ptmx$/.test(linkOf(pid, name))) return false;
    const about = attempt(() => readFileSync(`/proc/${pid}/fdinfo/${name}`, "utf8"), "");
    return Number(/^tty-index:\s*(\d+)$/m.exec(about)?.[1] ?? -1) === index;
  });
}

function socketOf(pid: number, name: string): readonly string[] {
  return /^socket:\[(\d+)\]$/.exec(linkOf(pid, name))?.slice(1) ?? [];
}

/** Inodes of sockets of this machine that are listened on: flag 0x10000 (`__SO_ACCEPTCON`). */
function listeningSockets(): readonly string[] {
  const text = attempt(() => readFileSync("/proc/net/unix", "utf8"), "");
  return text.split("\n").flatMap((line) => {
    const fields = line.trim().split(/\s+/);
    return (Number.parseInt(fields[3] ?? "0", 16) & 0x10000) === 0 ? [] : (fields[6] ?? []);
  });
}

/** Whether a process has this very file open, by device and inode: a name may be given to another file. */
export function hasOpen(pid: number, file: { readonly dev: number; readonly ino: number }): boolean {
  return descriptors(pid).some((name) => {
    const found = attempt(() => statSync(`/proc/${pid}/fd/${name}`), undefined);
    return found?.ino === file.ino && found.dev === file.dev;
  });
}
