/**
 * Commands that fetch a package when they start: a step of its own resolves them to an installed program, which can be
 * projected without the registry.
 */
import { homedir } from "node:os";
import { resolve } from "node:path";
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import { type Result, ok } from "../../core/result.ts";
import { fetchCommand } from "../packages/fetch-command.ts";
import { stepRunner } from "../packages/install-step.ts";
import { resolveCommand, unreachableSource } from "../packages/resolve.ts";
import type { ProcessTarget } from "../process/launch.ts";
import type { TransportLimits } from "../net/net-limits.ts";
import type { Support } from "./launch/support.ts";
import { tierOf } from "./launch/tiers.ts";

export type FetchSetup = {
  /** State folder whose lock and packages are used. */
  readonly home: string;
  readonly support: Support;
  readonly limits: TransportLimits;
  readonly notice?: ((text: string) => void) | undefined;
};

export type Fetched = {
  readonly target: ProcessTarget;
  /** Why a command that fetches was left as it is, as a part of a sentence. */
  readonly unresolved?: string;
};

/** The target to launch: the same where it fetches nothing. The error is a sentence; then nothing may be started. */
export async function fetched(
  target: ProcessTarget,
  order: IsolationOrder,
  { home, support, limits, notice = () => {} }: FetchSetup,
): Promise<Result<Fetched, string>> {
  const command = fetchCommand(target.command, target.args);
  if (command === undefined || order.mode === "off") return ok({ target });
  if (command.kind === "unresolvable") return ok({ target, unresolved: `it ${command.reason}` });
  if (tierOf(support, { net: { mode: "list" } }).tier !== "A") {
    return ok({ target, unresolved: "only tier A can hold the install to its registry" });
  }
  const userHome = resolve(homedir());
  const asked = { ...target, env: { ...ownSettings(), ...target.env } };
  const unreachable = unreachableSource(asked, command, userHome);
  if (unreachable !== undefined) return ok({ target, unresolved: unreachable });
  const run = stepRunner(home, limits);
  const resolved = await resolveCommand(asked, command, { home, userHome, run, now: () => new Date(), notice });
  return resolved.ok ? ok({ target: { ...resolved.value, env: target.env } }) : resolved;
}

/** Settings of installers in the gateway's own environment: a server's entry rarely repeats them. */
const settingNames =
  /^(?:npm_config_.+|UV_.+|PIP_.+|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|(?:https?|all|no)_proxy|XDG_CONFIG_HOME)$/i;

export function ownSettings(): Readonly<Record<string, string>> {
  const found = Object.entries(process.env).filter(([name]) => settingNames.test(name));
  return Object.fromEntries(found.map(([name, value]) => [name, value ?? ""]));
}
