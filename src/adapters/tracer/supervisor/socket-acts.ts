/** Connections, datagrams and listeners, by the addresses that a process gives to the kernel. */
import { addressBytesMax, messagesMax } from "../tracer-limits.ts";
import type { Notification, Surroundings } from "./notification.ts";
import type { Act } from "../record.ts";
import { permission, workingFolder } from "./server-files.ts";

type SocketAddress = Pick<Act, "address" | "port" | "path" | "transport">;

const families = { unix: 1, internet: 2, internet6: 10 } as const;

/** The act of `connect`; undefined if the address cannot be read or is of another family. */
export function connectAct(seen: Notification, around: Surroundings): Act | undefined {
  const place = addressAt(seen, around, { address: seen.whole(1), length: seen.low(2) });
  if (place === undefined) return undefined;
  if (place.path === undefined || place.path.startsWith("@"))
    return { action: "net-connect", outcome: "unknown", ...place };
  const path = around.files.absolute(seen.thread, workingFolder, place.path) ?? place.path;
  const found = around.files.look(path, permission.write);
  const outcome = found.outcome === "missing" ? "failed" : found.outcome;
  return { ...place, action: "net-connect", outcome, path: found.shown };
}

export function bindAct(seen: Notification, around: Surroundings): Act | undefined {
  const place = addressAt(seen, around, { address: seen.whole(1), length: seen.low(2) });
  // Port 0 asks for any port, as a client that only sends does; for a server socket `listen` follows.
  if (place === undefined || place.port === 0) return undefined;
  return { action: "net-listen", outcome: "unknown", ...place, extra: "bind" };
}

/**
 * The address of a local socket was recorded by `bind`, which it requires; other sockets may listen at a port that the
 * kernel chose.
 */
export function listenAct(seen: Notification, around: Surroundings): readonly Act[] {
  const kind = around.socketKind(around.files.place(seen.thread, seen.at).process, seen.low(0));
  if (kind === "unix") return [];
  return [
    { action: "net-listen", outcome: "unknown", extra: "listen", ...(kind === undefined ? {} : { transport: kind }) },
  ];
}

/** The act of `sendto` with an address; empty if there is none. */
export function sendToAct(seen: Notification, around: Surroundings): readonly Act[] {
  const place = addressAt(seen, around, { address: seen.whole(4), length: seen.low(5) });
  return place === undefined ? [] : [{ action: "net-send", outcome: "unknown", ...place }];
}

/** `sizeof(struct mmsghdr)` and the part of a message that names its receiver. */
const manyStride = 64;
const messageHeadBytes = 12;

/** Messages carry their receiver in memory. Returns undefined if there are more of them than `messagesMax`. */
export function sendMessageActs(seen: Notification, around: Surroundings): readonly Act[] | undefined {
  const many = seen.call === "sendmmsg";
  const count = many ? seen.low(2) : 1;
  if (count > messagesMax) return undefined;
  const acts: Act[] = [];
  for (let index = 0; index < count; index++) {
    const head = around.memory.read(seen.thread, seen.whole(1) + index * manyStride, messageHeadBytes);
    if (head === undefined || head.length < messageHeadBytes) break;
    const address = head.readUInt32LE(0) + head.readUInt32LE(4) * 0x1_0000_0000;
    const place = addressAt(seen, around, { address, length: head.readUInt32LE(8) });
    if (place !== undefined) acts.push({ action: "net-send", outcome: "unknown", ...place });
  }
  return acts;
}

type AddressAt = { readonly address: number; readonly length: number };

function addressAt(seen: Notification, around: Surroundings, at: AddressAt): SocketAddress | undefined {
  const length = Math.min(at.length, addressBytesMax);
  if (at.address === 0 || length < 2) return undefined;
  const bytes = around.memory.read(seen.thread, at.address, length);
  const place = bytes === undefined ? undefined : parseSocketAddress(bytes);
  if (place === undefined || place.transport === "unix") return place;
  const kind = around.socketKind(around.files.place(seen.thread, seen.at).process, seen.low(0));
  return kind === undefined ? place : { ...place, transport: kind };
}

/**
 * `struct sockaddr` of the families that reach somewhere: internet (unix(7), ip(7), ipv6(7)) and local sockets.
 * Undefined for others, such as questions to the kernel about its own routes.
 */
export function parseSocketAddress(bytes: Buffer): SocketAddress | undefined {
  if (bytes.length < 2) return undefined;
  const family = bytes.readUInt16LE(0);
  if (family === families.unix) {
    const name = bytes.subarray(2);
    if (name.length === 0) return undefined;
    // A zero first: a name in the abstract space of the network namespace, shown with `@` as other tools do.
    const abstract = name[0] === 0 && name.length > 1;
    const end = name.indexOf(0);
    const text = abstract
      ? `@${name.toString("latin1", 1)}`
      : name.toString("latin1", 0, end === -1 ? name.length : end);
    return { path: text, transport: "unix" };
  }
  if (family === families.internet && bytes.length >= 8) {
    return { address: [...bytes.subarray(4, 8)].join("."), port: bytes.readUInt16BE(2), transport: "tcp" };
  }
  if (family === families.internet6 && bytes.length >= 24) {
    return { address: internet6(bytes.subarray(8, 24)), port: bytes.readUInt16BE(2), transport: "tcp" };
  }
  return undefined;
}

/** An IPv6 address; one that carries an IPv4 address is written as that, which is where it goes. */
function internet6(bytes: Buffer): string {
  const mapped = bytes.readUInt32BE(0) === 0 && bytes.readUInt32BE(4) === 0 && bytes.readUInt32BE(8) === 0xffff;
  if (mapped) return [...bytes.subarray(12)].join(".");
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(2 * index).toString(16));
  // URL knows the canonical short form.
  return new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1);
}
