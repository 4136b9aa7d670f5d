/**
 * The containment tests that are attempts: forty-five of reference numbers 1 to 45, and the two scenarios that a server
 * can try alone (46, 47). Each runs inside of a projection, where none may reach anything, and outside, where those
 * that can work do.
 */
import type { EffectAction } from "../../src/core/isolation/effect-trace.ts";
import type { Act } from "./ground.ts";
import * as kernel from "./acts/kernel.ts";
import * as network from "./acts/network.ts";
import * as processes from "./acts/processes.ts";
import * as reads from "./acts/reads.ts";
import * as writes from "./acts/writes.ts";

export type Need = "koffi" | "listener" | "planted files" | "host process" | "system programs";

export type Attempt = {
  readonly number: number;
  readonly title: string;
  readonly needs: readonly Need[];
  readonly act: Act;
  /**
   * Who can tell whether it reached something: the attempt, which holds a secret or was let in; the world, in which
   * something changed; or the trace, where the act harms nobody outside and must only not go unseen. The world is looked
   * at in all cases.
   */
  readonly judge: "inside" | "world" | "trace";
  /** Without a projection: who reaches it. `machine` = depends on how this kernel was built or set. */
  readonly bare: "anyone" | "root" | "machine";
  /** What the trace must show of it. */
  readonly event?: EffectAction;
  /** Runs in a process of its own, because a kernel or filter may end it. */
  readonly alone?: true;
};

const files = ["planted files"] as const;
const native = ["koffi"] as const;
const programs = ["system programs"] as const;
const sockets = ["listener"] as const;
const host = ["host process"] as const;

type Rest = Omit<Attempt, "number" | "title" | "needs" | "act">;
const row = (number: number, title: string, needs: readonly Need[], act: Act, rest: Rest): Attempt => ({
  number,
  title,
  needs,
  act,
  ...rest,
});

export const attempts: readonly Attempt[] = [
  row(1, "read the private key of the user", files, reads.readPrivateKey, {
    judge: "inside",
    bare: "anyone",
    event: "file-read",
  }),
  row(2, "open the shadow file", [], reads.readShadow, { judge: "inside", bare: "root", event: "file-read" }),
  row(3, "list the home", files, reads.listHome, { judge: "inside", bare: "anyone" }),
  row(4, "write the shell's start-up file", files, writes.shellStart, {
    judge: "world",
    bare: "anyone",
    event: "file-write",
  }),
  row(5, "write into folders of the system", [], writes.systemFolders, { judge: "world", bare: "root" }),
  row(6, "change the server's own code", files, writes.ownCode, { judge: "world", bare: "anyone" }),
  row(7, "read a secret through a symbolic link", files, writes.symbolicLink, { judge: "inside", bare: "anyone" }),
  row(8, "read a secret through a hard link", files, writes.hardLink, { judge: "inside", bare: "anyone" }),
  row(9, "rename out of the workspace", files, writes.renameOut, { judge: "world", bare: "anyone" }),
  row(10, "read through parent folders", files, reads.throughParents, { judge: "inside", bare: "anyone" }),
  row(11, "read through the root of a process", files, reads.throughProcesses, { judge: "inside", bare: "anyone" }),
  row(12, "open a file by its handle", native, reads.byHandle, { judge: "inside", bare: "root" }),
  row(13, "read and leave files in shared folders", files, sharedFolders(), { judge: "inside", bare: "anyone" }),
  row(14, "write hooks and settings of the repository", files, writes.repositoryHooks, {
    judge: "world",
    bare: "anyone",
  }),
  row(15, "write rules for agents and editors", files, writes.agentRules, { judge: "world", bare: "anyone" }),
  row(16, "replace a program that people call", files, writes.programsOnPath, { judge: "world", bare: "anyone" }),
  row(17, "leave a file that runs as its owner", files, writes.setUser, { judge: "world", bare: "anyone" }),
  row(18, "leave a device or a pipe", programs, writes.specialFiles, { judge: "world", bare: "anyone" }),
  row(19, "change mode and times outside", files, writes.outsideProperties, { judge: "world", bare: "anyone" }),
  row(20, "open the kernel's log, memory and disks", [], reads.rawDevices, { judge: "inside", bare: "root" }),
  row(21, "open the kernel's settings for writing", [], reads.kernelSettings, { judge: "inside", bare: "root" }),
  row(22, "open control groups for writing", [], reads.controlGroups, { judge: "inside", bare: "machine" }),
  row(23, "read environments of the host", host, reads.environments, { judge: "inside", bare: "anyone" }),
  row(24, "read from an inherited descriptor", files, reads.inheritedDescriptor, { judge: "inside", bare: "anyone" }),
  row(25, "see and signal processes of the host", host, processes.seeAndSignal, { judge: "inside", bare: "anyone" }),
  row(26, "take over another process", native, processes.takeOver, { judge: "inside", bare: "anyone", alone: true }),
  row(27, "connect to this machine", sockets, network.hostLoopback, { judge: "inside", bare: "anyone" }),
  row(28, "connect to the internet and to the metadata address", sockets, network.internet, {
    judge: "inside",
    bare: "anyone",
    event: "net-connect",
  }),
  row(29, "carry data out in names", sockets, network.nameTunnel, {
    judge: "world",
    bare: "anyone",
    event: "dns-query",
  }),
  row(30, "open raw and foreign sockets", native, network.strangeSockets, { judge: "inside", bare: "machine" }),
  row(31, "connect to a socket of another program", sockets, network.unixSocket, { judge: "inside", bare: "anyone" }),
  row(32, "connect to an abstract socket", sockets, network.abstractSocket, { judge: "inside", bare: "anyone" }),
  row(33, "make, join and leave namespaces", native, kernel.namespaces, {
    judge: "inside",
    bare: "machine",
    alone: true,
  }),
  row(34, "set up io_uring", native, kernel.ring, { judge: "inside", bare: "machine", alone: true }),
  row(35, "userfaultfd, bpf, perf", native, kernel.watching, { judge: "inside", bare: "machine", alone: true }),
  row(36, "use the kernel's keys", native, kernel.keys, { judge: "inside", bare: "machine", alone: true }),
  row(37, "run a program from memory or from the workspace", programs, processes.foreignPrograms, {
    judge: "trace",
    bare: "anyone",
    event: "process-spawn",
  }),
  row(38, "push input into a terminal", native, kernel.terminal, { judge: "inside", bare: "anyone", alone: true }),
  row(39, "clock, name, restart and modules of the machine", native, kernel.machine, {
    judge: "inside",
    bare: "root",
    alone: true,
  }),
  row(40, "calls of other processors", native, kernel.otherArchitectures, {
    judge: "inside",
    bare: "machine",
    alone: true,
  }),
  row(41, "attach shared memory of the host", native, reads.sharedMemory, { judge: "inside", bare: "anyone" }),
  row(42, "outlive the session", programs, processes.survive, { judge: "world", bare: "anyone" }),
  row(43, "start processes without end", programs, processes.forkBomb, {
    judge: "inside",
    bare: "anyone",
    event: "limit-hit",
    alone: true,
  }),
  row(44, "take memory without end", [], processes.memoryHog, {
    judge: "inside",
    bare: "anyone",
    event: "limit-hit",
    alone: true,
  }),
  row(45, "fill the disk", files, writes.diskFill, { judge: "inside", bare: "anyone" }),
  row(46, "swap a path while it is read", native, processes.pathRace, {
    judge: "inside",
    bare: "anyone",
    alone: true,
  }),
  row(47, "install a second listener for system calls", native, kernel.secondListener, {
    judge: "inside",
    bare: "anyone",
    alone: true,
  }),
];

/** Reads what others left there, and leaves something itself, which the world notices. */
function sharedFolders(): Act {
  return async (ground) => {
    const left = await writes.leakIntoShared(ground);
    const read = await reads.sharedFolders(ground);
    return { ...read, detail: `${read.detail}; ${left.detail}` };
  };
}
