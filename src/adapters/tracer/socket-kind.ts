/** Whether a socket of another process speaks TCP or UDP, asked of a copy of its descriptor. */
import type { Arena, Native } from "./native.ts";

const socketLevel = 1; // SOL_SOCKET
const socketType = 3; // SO_TYPE
const stream = 1;
const datagram = 2;

/** `arena`: 16 bytes. Undefined where the kernel does not give us the descriptor, or it is of neither kind. */
export function socketKind(native: Native, arena: Arena, owner: number, descriptor: number): "tcp" | "udp" | undefined {
  const process = native.pidfdOpen(owner);
  if (process < 0) return undefined;
  const socket = native.pidfdGetfd(process, descriptor);
  native.close(process);
  if (socket < 0) return undefined;
  arena.view.setUint32(8, 4, true);
  const answered = native.socketOption(socket, socketLevel, socketType, arena.address, arena.address + 8) === 0;
  native.close(socket);
  if (!answered) return undefined;
  const type = arena.view.getUint32(0, true);
  return type === stream ? "tcp" : type === datagram ? "udp" : undefined;
}
