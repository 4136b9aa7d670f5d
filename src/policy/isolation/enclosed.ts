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

/** A way by which data can leave a process, and what the operator can write to close it; both are clauses. */
export type WayOut = { readonly why: string; readonly wayOn: string };

/** The ways out of a process that runs as ordered; none where it is enclosed in a tier that enforces the order. */
export function waysOut(isolation: Isolation, server: string): readonly WayOut[] {
  const order = isolation.orderOf(server);
  const { scope, mode } = order;
  const ways: readonly (readonly [boolean, string, string])[] = [
    [!isEnforced(order), `\`backend: ${mode}\` enforces nothing`, "isolate it (`backend: auto`)"],
    [scope.net.mode !== "none", "it has a network", "leave out its `net` if it can work without"],
    [scope.sockets.length > 0, "it uses sockets of this machine", "leave out its `sockets` if it can work without"],
    [writesInPlace(scope), "it writes files in place", "let it write into an overlay of the workspace alone"],
  ];
  const own = ways.flatMap(([open, why, wayOn]) => (open ? [{ why, wayOn }] : []));
  return [...own, ...(writesWorkspace(scope) ? passedOn(passingOn(isolation, server)) : [])];
}

/**
 * The kernel enforces the order where the process gets a tier that can. What the server does where it gets none is no
 * matter of the order: then its tier encloses nothing.
 */
function isEnforced({ mode }: Pick<IsolationOrder, "mode">): boolean {
  return mode === "auto" || mode === "where-possible";
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
 * without a call. The empty name stands for all servers that the policy does not name. Only what the policy orders counts: a
 * server that this machine cannot isolate is a program of the user like any other, which reads all of the user's files.
 */
function passingOn({ named, orderOf }: Isolation, own: string): readonly PassingOn[] {
  const others = [...named.values(), orderOf("")].filter((order) => order.server !== own && readsShared(order));
  return others.flatMap((order) => {
    const reach = reachOf(order);
    return reach === undefined ? [] : [{ order, reach }];
  });
}

type PassingOn = { readonly order: IsolationOrder; readonly reach: string };

/** One way out for all servers that pass on what is written, told by the first of them. */
function passedOn([first, ...others]: readonly PassingOn[]): readonly WayOut[] {
  if (first === undefined) return [];
  const { order, reach } = first;
  const { server } = order;
  const name = server === "" ? "any server without a scope of its own" : `server ${quoted(server)}`;
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  const whose = server === "" ? "`isolation.defaults`" : quoted(server);
  const closes = isEnforced(order)
    ? `give ${whose} \`files: {workspace: {mode: none}}\``
    : `isolate ${whose} (\`backend: auto\`) without a network`;
  return [
    {
      why: `${name}${more} can read the workspace and ${reach}, so it could pass on what this one writes there`,
      wayOn: `${closes}, or give this one \`files: {workspace: {commit: never}}\` if nothing of what it writes is needed`,
    },
  ];
}

/** How a server can reach other parties; undefined where its order leaves it no way. */
function reachOf({ mode, scope: { net, sockets } }: IsolationOrder): string | undefined {
  if (!isEnforced({ mode })) return `runs under \`backend: ${mode}\``;
  if (net.mode !== "none") return "has a network";
  return sockets.length === 0 ? undefined : "uses sockets of this machine";
}

/**
 * It reads what others write: the workspace, or a path, which can lie in the workspace or contain it. Outside of isolation
 * every path can be read.
 */
function readsShared(order: IsolationOrder): boolean {
  const { files, tools } = order.scope;
  return (
    !isEnforced(order) ||
    files.workspace.mode !== "none" ||
    [files, ...tools.values()].some(({ read, write }) => read.length + write.length > 0)
  );
}
