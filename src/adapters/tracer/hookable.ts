/** Tests whether a runtime accepts hooks: an unknown option would keep the server from starting. */
import { execFileSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { basename } from "node:path";

const answerMsMax = 5_000;
const auditOption = "--permission-audit";

/** The Node among the programs of a server; undefined if there is none. */
export function nodeAmong(programs: readonly string[]): string | undefined {
  return programs.findLast((program) => /^node\d*$/.test(basename(program)));
}

/**
 * True iff that Node can report violations of its permission model (`--permission-audit`). `drop` comes before its
 * command line.
 */
export function canAudit(node: string, drop: readonly string[]): boolean {
  try {
    if (realpathSync(node) === realpathSync(process.execPath)) {
      return process.allowedNodeEnvironmentFlags.has(auditOption);
    }
    const words: readonly string[] = [...drop, node, auditOption, "--version"];
    const [command = node, ...args] = words;
    execFileSync(command, args, { timeout: answerMsMax, stdio: "ignore", env: {} });
    return true;
  } catch {
    return false;
  }
}
