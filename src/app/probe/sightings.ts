/** What a trial saw of a server beside its answers: breaches of an empty scope, programs, hosts, and texts of all events. */
import type { EffectEvent, EffectTrace } from "../../core/isolation/effect-trace.ts";
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import { isWithin } from "../../core/isolation/scope-patterns.ts";
import type { Sighting } from "../../mechanisms/probe/judge.ts";
import { groundsOf } from "../../mechanisms/projection/grounds.ts";
import { judgeTrace } from "../../mechanisms/projection/judgement.ts";
import { shown } from "../state/sentences.ts";

/** `tool`: the tool that was called; undefined outside of calls. */
export function sightingsOf(
  order: IsolationOrder,
  trace: EffectTrace | undefined,
  tool: string | undefined,
): readonly Sighting[] {
  if (trace === undefined) return [];
  const { places } = trace;
  // Its home is its own, and yet keys in it are those of a user.
  const scratch = places.scratch.filter((folder) => folder !== places.home);
  const grounds = groundsOf(order, { ...trace, places: { ...places, scratch } }, undefined);
  const ordinary = new Set(["file.read", "file.write", "file.link-target"]);
  // What it writes into its own package or home is a matter of its scope.
  const own = [places.home, ...places.code.filter((folder) => !isSystem(folder))];
  const isOwn = (what: string): boolean =>
    trace.events.some(
      ({ path }) =>
        path !== undefined && own.some((folder) => isWithin(path, folder)) && what.includes(path.slice(0, 60)),
    );
  const { violations } = judgeTrace(grounds);
  const seen = violations
    .map(({ rule, what }) => ({ rule, what }))
    .filter(({ rule, what }) => !(ordinary.has(rule) && isOwn(what)));
  seen.push(...programsIn(trace.events, tool ?? ""));
  const metadata = trace.events.find(({ address }) => address === "169.254.169.254" || address === "fd00:ec2::254");
  if (metadata === undefined) return seen;
  return [...seen, { rule: "metadata.address", what: "asked the metadata service of the machine for its keys" }];
}

const isSystem = (folder: string): boolean => /^\/(?:usr|bin|sbin|lib|lib32|lib64|etc)(?:\/|$)/.test(folder);

/** Hosts that it asked for or connected to. An address of the sink stands for a name that was asked for before. */
export function hostsIn(trace: EffectTrace | undefined): readonly string[] {
  return (trace?.events ?? []).flatMap(({ domain, address }) => {
    const host = domain ?? (address?.startsWith("198.18.") === true ? undefined : address);
    return host === undefined ? [] : [shown(host, 100)];
  });
}

/** Programs that no runtime starts by itself, and whose purpose is not seen from outside. */
const programs: readonly { readonly rule: string; readonly says: string; readonly is: (event: Spawned) => boolean }[] =
  [
    {
      rule: "process.privileged",
      says: "started a program that changes users, namespaces or what runs later",
      is: ({ name }) =>
        /^(?:unshare|nsenter|setpriv|chroot|su|sudo|doas|pkexec|crontab|at|batch|systemctl|systemd-run|launchctl|schtasks|insmod|modprobe|mount|gdb|strace)$/.test(
          name,
        ),
    },
    { rule: "process.shell", says: "started a shell", is: ({ name }) => shells.test(name) },
    {
      rule: "process.code",
      says: "ran code that it gave on a command line",
      is: ({ name, words }) =>
        interpreters.test(name) &&
        words.slice(1, 5).some((word, at) => inline.test(word) && !workers.test(words.slice(at + 2).join(" "))),
    },
  ];

const shells = /^(?:sh|bash|dash|zsh|ash|busybox|powershell|pwsh)$/;
const interpreters = /^(?:node|nodejs|deno|bun|python[\d.]*|perl|ruby|php)$/;
const inline = /^(?:-e|-c|-p|-r|-pe|--eval|--print|eval)$/;
/** What Python starts for its own processes. */
const workers = /^from multiprocessing\.\w+ import \w+; ?\w+\([^;]*\)$/;

/** A tool that says by its name that it runs programs does what it says; its card says so as well. */
const runsPrograms = /(?:^|[^a-z])(?:run|exec|execute|shell|bash|command|terminal|eval|script|process|code)/i;

type Spawned = { readonly name: string; readonly words: readonly string[] };

function programsIn(events: readonly EffectEvent[], tool: string): readonly Sighting[] {
  // The first of all is the server itself.
  const spawned = events.filter(({ action, sequence }) => action === "process-spawn" && sequence > 1);
  return programs.flatMap(({ rule, says, is }): readonly Sighting[] => {
    if (rule !== "process.privileged" && runsPrograms.test(tool)) return [];
    const found = spawned.find(({ program = "", commandLine = "" }) =>
      is({ name: program.split("/").at(-1) ?? "", words: commandLine.split(" ") }),
    );
    if (found === undefined) return [];
    return [{ rule, what: `${says}: ${shown(found.commandLine ?? found.program ?? "", 100)}` }];
  });
}

/** Texts of all events, in which canaries are looked for. */
export function textsOf(trace: EffectTrace | undefined): readonly string[] {
  if (trace === undefined) return [];
  return trace.events.flatMap(({ action, domain, path, target, commandLine, detail }) => {
    // The path of a planted file is no content of it.
    const texts = action === "file-read" ? [] : [path, target];
    return [domain, commandLine, detail, ...texts].filter((text) => text !== undefined);
  });
}
