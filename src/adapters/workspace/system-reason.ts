/** The failure of a system call as words of a sentence. */
import { printable } from "../net/printable.ts";

/** The system's short name of a failure (`ENOSPC`), which is more precise than a sentence. */
export function reasonOf(cause: unknown): string {
  if (typeof cause !== "object" || cause === null || !("code" in cause)) return "unknown reason";
  return typeof cause.code === "string" ? cause.code : "unknown reason";
}

/** A path with its end, which tells files apart, and nothing that could end a line. */
export function short(path: string): string {
  const plain = printable(path, 4_096);
  return plain.length <= 60 ? plain : `...${plain.slice(-57)}`;
}
