/**
 * Doors of the kernel that no server needs. Each is knocked at in a way that changes nothing where it is open: the
 * arguments are such that a kernel which permits the call still has nothing to do.
 */
import { spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { anyOf, held, reached, type Act, type Outcome } from "../ground.ts";
import { loadNative, noSuchCall, notPermitted, text, type Native } from "../native.ts";

type Knock = (native: Native) => Outcome;

/** A kernel that complains about the arguments has let the call in. */
function admitted(result: bigint): Outcome {
  const refused = result === notPermitted || result === noSuchCall;
  return refused ? held(`error ${-result}`) : reached(result < 0n ? `let in (error ${-result})` : "done");
}

/** Gives a descriptor or an id where it works, and any error is a no. */
function given(native: Native, result: bigint): Outcome {
  if (result < 0n) return held(`error ${-result}`);
  native.call("close", result);
  return reached("given");
}

/** Knocks one after the other, as far as there is koffi to do it with. */
function knock(knocks: Readonly<Record<string, Knock>>, more: Parameters<typeof anyOf>[0] = {}): Act {
  return async () => {
    const native = await loadNative();
    const without = (): Outcome => ({ kind: "cannot", detail: "needs koffi on x86-64" });
    const ways = Object.entries(knocks).map(([name, way]) => [
      name,
      native === undefined ? without : () => way(native),
    ]);
    return anyOf({ ...Object.fromEntries(ways), ...more });
  };
}

const newNetwork = 0x40000000;

/** A program of the system does it in a process with one thread, which a namespace of users asks for. */
function program(name: string, ...args: readonly string[]): Outcome {
  const done = spawnSync(name, args, { encoding: "utf8", timeout: 5_000 });
  return done.status === 0 ? reached(`${name} done`) : held(done.error?.message ?? done.stderr.trim().slice(0, 80));
}

export const namespaces: Act = knock(
  {
    mount: (native) => admitted(native.call("mount", text("none"), text("/tmp"), text("no-such-kind"), 0, null)),
    unmount: (native) => admitted(native.call("umount2", text("/usr"), 0)),
    root: (native) => admitted(native.call("chroot", text("/"))),
    join: (native) => {
      const namespace = openSync("/proc/self/ns/net", "r");
      const result = native.call("setns", namespace, newNetwork);
      closeSync(namespace);
      return admitted(result);
    },
    network: (native) => admitted(native.call("unshare", newNetwork)),
  },
  { users: () => program("unshare", "--user", "--map-root-user", "true") },
);

export const ring: Act = knock({
  setup: (native) => given(native, native.call("io_uring_setup", 1, Buffer.alloc(120))),
});

const userModeOnly = 1;
const perfAttribute = (): Buffer => {
  const attribute = Buffer.alloc(112);
  attribute.writeUInt32LE(1, 0); // a counter in software
  attribute.writeUInt32LE(64, 4);
  attribute.writeUInt32LE(0b1100001, 40); // disabled, without kernel and hypervisor
  return attribute;
};
const mapAttribute = (): Buffer => {
  const attribute = Buffer.alloc(72);
  [2, 4, 4, 1].forEach((value, index) => attribute.writeUInt32LE(value, index * 4)); // an array of one word
  return attribute;
};

export const watching: Act = knock({
  userfaultfd: (native) => given(native, native.call("userfaultfd", userModeOnly)),
  bpf: (native) => given(native, native.call("bpf", 0, mapAttribute(), 72)),
  perf: (native) => given(native, native.call("perf_event_open", perfAttribute(), 0, -1, -1, 0)),
});

const processKeyring = -2;

export const keys: Act = knock({
  add: (native) => {
    const key = native.call("add_key", text("user"), text("escape"), Buffer.from("x"), 1, processKeyring);
    return key < 0n ? held(`error ${-key}`) : reached("added a key");
  },
  session: (native) => admitted(native.call("keyctl", 0, -3, 0)),
});

const pushCharacter = 0x5412;
const consoleSelection = 0x541c;

/** Input pushed into a terminal is typed by its user, as far as the shell that waits there can tell. */
export const terminal: Act = knock({
  push: (native) => admitted(native.call("ioctl", 0, pushCharacter, text("x"))),
  console: (native) => admitted(native.call("ioctl", 0, consoleSelection, Buffer.from([255]))),
});

export const machine: Act = knock({
  clock: (native) => admitted(native.call("settimeofday", null, null)),
  name: (native) => admitted(native.call("sethostname", null, -1)),
  reboot: (native) => admitted(native.call("reboot", 0, 0, 0, null)),
  module: (native) => admitted(native.call("finit_module", -1, text(""), 0)),
  unload: (native) => admitted(native.call("delete_module", null, 0)),
});

const x32Bit = 0x40000000;
const getProcess = 39;
const readWriteRun = 7;
const privateAnonymous = 0x22;
/** `mov eax, 20; int 0x80; ret`: asks for the process id in the way of 32-bit programs. */
const code32 = Buffer.from([0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3]);

/** A filter that knows only the numbers of 64-bit calls is passed by these doors; ours ends the process at the second. */
export const otherArchitectures: Act = knock({
  x32: (native) => {
    const id = native.numbered(x32Bit | getProcess);
    return id > 0n ? reached("answered") : held(`error ${-id}`);
  },
  i386: (native) => {
    const page = native.call("mmap", null, 4_096, readWriteRun, privateAnonymous, -1, 0);
    if (page < 0n) return held(`no memory to run in (error ${-page})`);
    native.write(page, code32);
    const id = native.run(page);
    return id > 0 ? reached(`process ${id}`) : held(`error ${-id}`);
  },
});

const noNewPrivileges = 38;
const setModeFilter = 1;
const newListener = 8;

/** A second listener would answer in place of the supervisor: the kernel knows one for each tree of processes. */
export const secondListener: Act = knock({
  listener: (native) => {
    const allow = Buffer.from([0x06, 0, 0, 0, 0, 0, 0xff, 0x7f]);
    const program = Buffer.alloc(16);
    program.writeUInt16LE(1, 0);
    program.writeBigUInt64LE(native.place(allow), 8);
    native.call("prctl", noNewPrivileges, 1, 0, 0, 0);
    return given(native, native.call("seccomp", setModeFilter, newListener, program));
  },
});
