/**
 * Whether the projection of a server leaves its process no way out (lifecycle.md 1.6). Only what the kernel enforces
 * counts, over the widest scope that the process can ever have: scopes of single tools included, since one process serves
 * all calls.
 */
import type { RunningProcess } from "../../core/contract.ts";
import type { IsolationOrder, Scope } from "../../core/isolation/scope.ts";
import { quoted } from "../document/diagnostic.ts";
import type { Isolation } from "../ir/isolation-order.ts";
import type { Enclosure } from "../ir/label-table.ts";

/**
 * The running process as contracts count on it; undefined where its tier enforces too little, where it runs under
 * another order than this policy gives, and where its order leaves it a way out.
 */
export function enclosedProcess(
  isolation: Isolation | undefined,
  server: string,
  running: RunningProcess | undefined,
): Enclosure | undefined {
  if (isolation === undefined || running === undefined) return undefined;
  const { tier, order } = running;
  if (tier !== "A" && tier !== "A-") return undefined;
  const ordered = isolation.orderOf(server);
  if (ordered.digest !== order || waysOut(isolation, server).length > 0) return undefined;
  return { process: { tier, order }, apart: !readsShared(ordered) };
}

/** The ways by which data can leave a process that runs as ordered, each as a clause; none where it is enclosed. */
export function waysOut(isolation: Isolation, server: string): readonly string[] {
  const order = isolation.orderOf(server);
  const { scope } = order;
  return [
    ...(order.mode === "auto" ? [] : [`\`backend: ${order.mode}\` enforces nothing`]),
    ...(scope.net.mode === "none" ? [] : ["it has a network"]),
    ...(scope.sockets.length === 0 ? [] : ["it uses sockets of this machine"]),
    ...(writesInPlace(scope) ? ["it writes files in place"] : []),
    ...(writesWorkspace(scope) ? passingOn(isolation, server).map(passedOn) : []),
  ];
}

/** A path that any tool of the server may write itself, past the verdict on its call. */
function writesInPlace({ files, tools }: Scope): boolean {
  return files.workspace.mode === "direct" || [files, ...tools.values()].some(({ write }) => write.length > 0);
}

/** Writes of the process can reach the workspace, where other programs read them. */
function writesWorkspace({ files: { workspace } }: Scope): boolean {
  return workspace.mode === "overlay" && workspace.commit !== "never";
}

/**
 * Servers that read what others write into the workspace and can reach other parties: they could pass it on at any time, with or
 * without a call. The empty name stands for all servers that the policy does not name.
 */
function passingOn({ named, orderOf }: Isolation, own: string): readonly string[] {
  const others = [...named.values(), orderOf("")].filter(({ server }) => server !== own);
  return others.filter((order) => mayReach(order) && readsShared(order)).map(({ server }) => server);
}

function passedOn(server: string): string {
  const name = server === "" ? "any server without a scope of its own" : `server ${quoted(server)}`;
  return `${name} can pass on what it writes into the workspace`;
}

function mayReach({ mode, scope: { net, sockets } }: IsolationOrder): boolean {
  return mode !== "auto" || net.mode !== "none" || sockets.length > 0;
}

/**
 * It reads what others write: the workspace, or a path, which can lie in the workspace or contain it. Outside of isolation
 * every path can be read.
 */
function readsShared({ mode, scope: { files, tools } }: IsolationOrder): boolean {
  return (
    mode !== "auto" ||
    files.workspace.mode !== "none" ||
    [files, ...tools.values()].some(({ read, write }) => read.length + write.length > 0)
  );
}
