/** Whether a socket of another process speaks TCP or UDP or is a local one, asked of a copy of its descriptor. */
import type { Arena, Native } from "./native.ts";

const socketLevel = 1; // SOL_SOCKET
const socketType = 3; // SO_TYPE
const socketDomain = 39; // SO_DOMAIN
const local = 1; // AF_UNIX
const stream = 1;
const datagram = 2;

/** `arena`: 16 bytes. Undefined where the kernel does not give us the descriptor, or it is of neither kind. */
export function socketKind(
  native: Native,
  arena: Arena,
  owner: number,
  descriptor: number,
): "tcp" | "udp" | "unix" | undefined {
  const process = native.pidfdOpen(owner);
  if (process < 0) return undefined;
  const socket = native.pidfdGetfd(process, descriptor);
  native.close(process);
  if (socket < 0) return undefined;
  const ask = (option: number): number | undefined => {
    arena.view.setUint32(8, 4, true);
    const answered = native.socketOption(socket, socketLevel, option, arena.address, arena.address + 8) === 0;
    return answered ? arena.view.getUint32(0, true) : undefined;
  };
  const [domain, type] = [ask(socketDomain), ask(socketType)];
  native.close(socket);
  if (domain === local) return "unix";
  return type === stream ? "tcp" : type === datagram ? "udp" : undefined;
}
