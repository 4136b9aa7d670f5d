/**
 * Makes the network namespace of this process answer for every IPv4 address, through a netlink socket opened by koffi.
 * Only for the launcher: a mistake in a foreign call ends the process, which must never be the gateway.
 */
import { err, ok, type Result } from "../../core/result.ts";
import { brokerAddress } from "./name-files.ts";
import { acknowledgement, everyAddressLocal, loopbackAddress, loopbackUp } from "./netlink.ts";

const familyNetlink = 16;
const socketRaw = 3;
const closeOnExec = 0o2000000;
const protocolRoute = 0;
const doNotWait = 0x40;
const answerBytesMax = 4_096;
/** Answers read for one request; the kernel sends exactly one. */
const answersMax = 4;

type Calls = {
  readonly socket: (family: number, type: number, protocol: number) => number;
  readonly send: (socket: number, bytes: Uint8Array, length: number, flags: number) => number;
  readonly recv: (socket: number, bytes: Uint8Array, length: number, flags: number) => number;
  readonly close: (socket: number) => number;
  readonly errno: () => number;
};

/** An error is a sentence. Needs CAP_NET_ADMIN in the namespace, which its maker has. */
export async function captureAllAddresses(): Promise<Result<void, string>> {
  const calls = await systemCalls();
  if (!calls.ok) return calls;
  const { socket, close, errno } = calls.value;
  const descriptor = socket(familyNetlink, socketRaw | closeOnExec, protocolRoute);
  if (descriptor < 0) return err(refused("open a netlink socket", errno()));
  try {
    const own = brokerAddress.split(".").map(Number);
    const steps = [
      ["bring up the loopback interface", loopbackUp(1)],
      ["give it an address", loopbackAddress(2, own)],
      ["add the route for all addresses", everyAddressLocal(3)],
    ] as const;
    for (const [index, [what, bytes]] of steps.entries()) {
      const code = request(calls.value, descriptor, bytes, index + 1);
      if (code !== 0) return err(refused(what, code));
    }
    return ok(undefined);
  } finally {
    close(descriptor);
  }
}

/** The error number of the kernel's answer, 0 for success. */
function request(calls: Calls, descriptor: number, bytes: Uint8Array, sequence: number): number {
  if (calls.send(descriptor, bytes, bytes.byteLength, 0) !== bytes.byteLength) return calls.errno();
  const answer = new Uint8Array(answerBytesMax);
  for (let count = 0; count < answersMax; count += 1) {
    // The kernel answers while the request is sent, so an empty queue means that none will come.
    const length = calls.recv(descriptor, answer, answer.byteLength, doNotWait);
    if (length < 0) return calls.errno();
    const code = acknowledgement(answer.subarray(0, length), sequence);
    if (code !== undefined) return code;
  }
  return -1;
}

async function systemCalls(): Promise<Result<Calls, string>> {
  try {
    const { default: koffi } = await import("koffi");
    const library = koffi.load(null);
    return ok({
      socket: library.func("int socket(int family, int type, int protocol)"),
      send: library.func("intptr_t send(int socket, const void *bytes, size_t length, int flags)"),
      recv: library.func("intptr_t recv(int socket, _Out_ void *bytes, size_t length, int flags)"),
      close: library.func("int close(int socket)"),
      errno: () => koffi.errno(),
    });
  } catch {
    return err("The package koffi cannot be loaded, so servers have no network. Install it: npm install koffi.");
  }
}

function refused(what: string, code: number): string {
  return `The system did not let the launcher ${what} (error ${code}), so the server has no network.`;
}
