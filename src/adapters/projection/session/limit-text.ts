/** Why a server ended that used up a limit of its scope, with the way to raise it. */
import type { IsolationOrder } from "../../../core/isolation/scope.ts";
import type { FatalLimit } from "../parts.ts";

const words: Readonly<Record<FatalLimit, (limit: number) => string>> = {
  memoryMb: (limit) => `${limit} MiB of memory`,
  cpuSeconds: (limit) => `${limit} s of processor time`,
  fileMb: (limit) => `${limit} MiB for one file`,
};

/** The sentence for the agent and the operator; undefined where no limit ended the server. */
export function limitText(fatal: FatalLimit | undefined, { server, scope }: IsolationOrder): string | undefined {
  if (fatal === undefined) return undefined;
  const limit = words[fatal](scope.limits[fatal]);
  return `The server was ended because it used up its limit of ${limit}. Ask it for less, or raise \`limits: {${fatal}: ...}\` under isolation.servers.${server}.`;
}
