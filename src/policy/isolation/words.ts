/** An order of isolation in sentences, for `policy explain` and `policy check`: what a server may touch, and how firmly. */
import type { FileScope, IsolationOrder, NetScope, Scope, IsolationTier } from "../../core/isolation/scope.ts";

/** Names of one list that are shown; the rest is counted. */
const namesMax = 6;

const mebibyte = 1_048_576;

/** Sentences of the order about the server, most important first, and about its tools or only the given one. */
export function orderSentences(order: IsolationOrder, tool?: string): readonly string[] {
  const { server, mode } = order;
  if (mode === "off") return [`${server} runs bare: nothing keeps it from anything, and nothing is seen of it.`];
  if (mode === "where-possible" && order.require === "none") {
    return [`${server} runs isolated where this machine gives tier A, else bare.`, ...boundSentences(order, tool)];
  }
  const tier =
    order.require === "none" ? "in the best tier there is" : `in tier ${order.require} or better, or not at all`;
  const learns = ` It is only watched: its acts are written down, and none is refused that need not be.`;
  return [`${server} runs isolated, ${tier}.${mode === "learn" ? learns : ""}`, ...boundSentences(order, tool)];
}

function boundSentences({ mode, scope }: IsolationOrder, tool: string | undefined): readonly string[] {
  return [
    ...(mode === "learn" ? learningSentences(scope) : scopeSentences(scope)),
    ...environmentSentences(scope, mode),
    ...(scope.sockets.length === 0 ? [] : [`It connects to the sockets ${named(scope.sockets)} of this machine.`]),
    limitSentence(scope),
    traceSentence(scope),
    ...(tool === undefined ? [...scope.tools.keys()] : [tool]).flatMap((name) => toolSentences(scope, name)),
  ];
}

function scopeSentences(scope: Scope): readonly string[] {
  return [...fileSentences(scope.files), ...netSentences(scope.net), execSentence(scope)];
}

/** Its lists bound nothing then, but for what is kept out. */
function learningSentences({ files, net }: Scope): readonly string[] {
  const reach =
    net.mode === "open"
      ? netSentences(net)
      : ["It reaches every public name on usual ports, and every one is recorded."];
  return [
    workspaceSentence(files.workspace),
    "Learning mode: it can read your files except known credential paths; its writes elsewhere are discarded.",
    ...reach,
    "It starts any program that it can see.",
  ];
}

/** Sentences about the access of one tool beyond its server; empty where it has no more. */
function toolSentences(scope: Scope, tool: string): readonly string[] {
  const own = scope.tools.get(tool);
  if (own === undefined) return [];
  const parts = [
    ...(own.read.length === 0 ? [] : [`read ${named(own.read)}`]),
    ...(own.write.length === 0 ? [] : [`write ${named(own.write)}`]),
    ...(own.allow.length === 0 ? [] : [`connect to ${named(own.allow)}`]),
    ...(own.programs.length === 0 ? [] : [`start ${named(own.programs)}`]),
  ];
  return parts.length === 0 ? [] : [`While ${tool} is called, it may also ${parts.join(" and ")}.`];
}

function named(names: readonly string[]): string {
  const rest = names.length - namesMax;
  return `${names.slice(0, namesMax).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

function fileSentences(files: FileScope): readonly string[] {
  return [
    workspaceSentence(files.workspace),
    ...(files.read.length === 0 ? [] : [`It reads ${named(files.read)}.`]),
    ...(files.write.length === 0 ? [] : [`It writes ${named(files.write)} itself; nothing of that can be taken back.`]),
    ...(files.deny.length === 0 ? [] : [`It never sees ${named(files.deny)}.`]),
  ];
}

function workspaceSentence({ mode, commit, per, quotaMb }: FileScope["workspace"]): string {
  switch (mode) {
    case "none":
      return "It does not see the workspace.";
    case "read":
      return "It reads the workspace and cannot write into it.";
    case "direct":
      return "It writes into the workspace itself; nothing of that can be taken back.";
    case "overlay": {
      const fate = {
        allow: per === "call" ? "reach it after each call whose result passes" : "reach it when the run ends well",
        review: "wait for you: `sluicegate changes` shows them",
        never: "never reach it",
      }[commit];
      return `It writes into a projection of the workspace; its writes (at most ${quotaMb} MiB) ${fate}.`;
    }
  }
}

function netSentences(net: NetScope): readonly string[] {
  switch (net.mode) {
    case "none":
      return ["It reaches no network."];
    case "open":
      return ["It reaches every network this machine does, so no tier above B can hold it."];
    case "list": {
      const bytes = `${sizeText(net.callBytesMax)} in one call and ${sizeText(net.serverBytesMax)} in all`;
      const where =
        net.allow.length === 0 ? "It connects only to what a call is granted" : `It connects to ${named(net.allow)}`;
      return [`${where}, with at most ${bytes}.`];
    }
  }
}

function sizeText(bytes: number): string {
  return bytes % mebibyte === 0 ? `${bytes / mebibyte} MiB` : `${bytes} bytes`;
}

function execSentence({ exec }: Scope): string {
  switch (exec.mode) {
    case "any":
      return "It starts any program that it can see.";
    case "none":
      return "It starts no other program.";
    case "list":
      return `It starts ${named(exec.programs)} and no other program.`;
  }
}

function environmentSentences({ environment }: Scope, mode: IsolationOrder["mode"]): readonly string[] {
  const set = Object.keys(environment.set);
  const entry = mode === "where-possible" ? ["what your client's configuration names for it"] : [];
  const all = [...(environment.pass.length === 0 ? [] : [named(environment.pass)]), ...entry];
  return [
    all.length === 0
      ? "It gets nothing of your environment but settings of language and terminal."
      : `Of your environment it gets ${all.join(" and ")}.`,
    ...(set.length === 0 ? [] : [`It is given ${named(set)} by the policy.`]),
  ];
}

function limitSentence({ limits }: Scope): string {
  const parts = [
    `${limits.memoryMb} MiB of memory`,
    `${limits.processes} processes`,
    `${limits.openFiles} open files`,
    `${limits.cpuSeconds} s of processor time`,
    `files of ${limits.fileMb} MiB`,
    `${limits.callTimeoutMs / 1000} s for one call`,
  ];
  return `It has at most ${parts.join(", ")}.`;
}

function traceSentence({ trace, serial, onViolation }: Scope): string {
  const seen = {
    full: "Its reads, writes, connections and programs are traced",
    effects: "What it changes and what leaves it is traced, what it reads is not",
    none: "It is not traced; only its writes, its connections and its limits are known",
  }[trace];
  const then = { reject: "", revoke: " and it is trusted no more", end: " and the server ends" }[onViolation];
  const turn = serial ? ", one call at a time" : "";
  return `${seen}${turn}; a call that leaves this scope is rejected${then}.`;
}

/** Whether a server of this tier has a network of its own, which `net: open` would take it out of. */
export function tierHasNetwork(tier: IsolationTier): boolean {
  return tier === "A" || tier === "A-";
}
