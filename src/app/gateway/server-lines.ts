/**
 * Lines of servers on the operator's stream. Each begins with the name of its server: several servers share a stream, and
 * no server may speak in the gateway's own name.
 */
import { shown } from "../state/sentences.ts";

/** Characters of one line of a server that are shown. */
export const lineCharactersMax = 2_000;

export function serverLine(server: string, line: string): string {
  return `[${shown(server, 64)}] ${shown(line, lineCharactersMax)}`;
}
