/** Checks of the surroundings: Node, folders that only the user enters, the daemon, the log, the policy, hooks. */
import { lstatSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { ask, reachesDaemon } from "../../adapters/daemon/connect.ts";
import { askWaitMsMax } from "../../adapters/daemon/daemon-limits.ts";
import { type DaemonPaths, daemonPaths, runtimeFolder, stateHome } from "../../adapters/daemon/paths.ts";
import { identify } from "../../adapters/daemon/process-identity.ts";
import { ownVersion } from "../../adapters/daemon/version.ts";
import { member, stringMember } from "../../core/json.ts";
import { verifyLog } from "../../gateway/log/verify.ts";
import { userPolicies } from "../../app/policy/policy-source.ts";
import { installedReadings } from "../../app/cards/accepted-readings.ts";
import { PolicyFiles } from "../../app/policy/policy-files.ts";
import { type NamedLog, logHome, logNames, readLogs } from "../../app/state/log-files.ts";
import { missedLog, remembered } from "../../app/state/log-trust.ts";
import { otherHome } from "../daemon.ts";
import { shortPath, shown } from "../../app/state/sentences.ts";
import { checkGroups } from "./groups.ts";
import { type Check, compiledPolicies, failed, noted, passed } from "./check.ts";
import { checkIsolation } from "./isolation.ts";
import type { Judge } from "../../policy/sections/judges.ts";

/** Records up to which the whole log is verified here; of a longer one the daemon's word on its health must do. */
const verifiedRecordsMax = 20_000;

/** A client's settings beyond this are not looked into. */
const settingsBytesMax = 4 * 1024 * 1024;

export async function surroundings(): Promise<readonly Check[]> {
  const folders = checkFolders();
  const paths = daemonPaths(process.env);
  const daemon = paths.ok ? await checkDaemon(paths.value) : failed("daemon", paths.error);
  const policies = [checkPolicy(), ...(await checkJudges()), ...(await checkIsolation(compiledPolicies()))];
  const groups = paths.ok ? await checkGroups(paths.value) : [];
  return [
    checkNode(),
    ...folders,
    daemon,
    ...groups,
    ...(await checkLogs()),
    ...policies,
    checkProcesses(),
    checkHooks(),
  ];
}

function checkNode(): Check {
  // The launcher has refused every Node that is too old; what is left to say is which one it found.
  return passed("node", `Node ${process.versions.node} on ${process.platform} runs Sluicegate ${ownVersion()}.`);
}

/** Looked at before `daemonPaths` makes or closes them. */
function checkFolders(): readonly Check[] {
  const uid = process.getuid?.() ?? 0;
  const folders = [
    ["state", stateHome(process.env)],
    ["socket", runtimeFolder(process.env, uid)],
  ] as const;
  return folders.map(([name, folder]) => checkFolder(name, folder, uid));
}

function checkFolder(name: string, folder: string, uid: number): Check {
  const place = shortPath(folder);
  try {
    const found = lstatSync(folder, { throwIfNoEntry: false });
    if (found === undefined) return passed(name, `The ${name} folder ${place} is made at the first start.`);
    if (!found.isDirectory() || (process.platform !== "win32" && found.uid !== uid)) {
      return failed(name, `The ${name} folder ${place} is not a folder of this user: remove it, or name another one.`);
    }
    if (process.platform !== "win32" && (found.mode & 0o077) !== 0) {
      return noted(name, `Others could enter the ${name} folder ${place}; it was closed just now.`);
    }
    if (name === "state") writeProbe(folder);
    return passed(name, `The ${name} folder ${place} is closed to others.`);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
    if (code === "ENOSPC" || code === "EDQUOT")
      return failed(
        name,
        `The disk of the ${name} folder ${place} is full (${code}): free space, else no call passes.`,
      );
    return failed(name, `The ${name} folder ${place} cannot be used (${code}): check its owner and permissions.`);
  }
}

/** About what a new log takes: a log that has room in its pages still opens on a disk that is full. */
const probeBytes = 256 * 1024;

function writeProbe(folder: string): void {
  const file = join(folder, `doctor-${process.pid}`);
  try {
    writeFileSync(file, Buffer.alloc(probeBytes), { mode: 0o600 });
  } finally {
    rmSync(file, { force: true });
  }
}

async function checkDaemon(paths: DaemonPaths): Promise<Check> {
  const version = ownVersion();
  const options = { version, waitMsMax: askWaitMsMax };
  const answer = await ask(paths.socket, { kind: "daemon", command: "status" }, options);
  if (!answer.ok) {
    if (answer.error.kind === "refused") return failed("daemon", answer.error.refused);
    const absent = answer.error.code === "ENOENT" || answer.error.code === "ECONNREFUSED";
    return absent
      ? noted("daemon", "No daemon runs now; the next `sluicegate run` starts one.")
      : failed("daemon", `The daemon does not answer (${answer.error.code}): run \`sluicegate daemon stop\`.`);
  }
  const other = stringMember(answer.value, "version") ?? "?";
  if (other !== version) {
    return failed(
      "daemon",
      `The daemon is version ${shown(other, 20)}, this is ${version}: run \`sluicegate daemon stop\`.`,
    );
  }
  if (stringMember(answer.value, "home") !== paths.home) return failed("daemon", otherHome);
  const gateway = await ask(paths.socket, { kind: "status" }, options);
  const log = gateway.ok ? member(gateway.value, "log") : undefined;
  const state = stringMember(log, "state");
  const trouble = state === "failed" || state === "broken" ? stringMember(log, "sentence") : undefined;
  if (trouble !== undefined) return failed("daemon", `The daemon's log is ${state ?? ""}: ${trouble}`);
  return passed("daemon", `The daemon runs, version ${version}.`);
}

/** One by one, so that a log that does not open hides nothing of the other. */
async function checkLogs(): Promise<readonly Check[]> {
  const checks: Check[] = [];
  for (const name of logNames) {
    const opened = readLogs(process.env, name, true);
    if (!opened.ok) checks.push(failed("log", opened.error.sentence));
    else if (opened.value.length === 0) {
      const missed = missedLog(logHome(process.env, name));
      if (missed !== undefined) checks.push(failed("log", missed.sentence));
    } else for (const log of opened.value) checks.push(await checkLog(log));
  }
  const none = "There is no event log yet; it begins with the first run or the first `sluicegate gateway`.";
  return checks.length === 0 ? [passed("log", none)] : checks;
}

async function checkLog({ name, store, keys }: NamedLog): Promise<Check> {
  try {
    const writers = await store.writers();
    if (!writers.ok) return failed("log", writers.error.sentence);
    let records = 0;
    for (const writer of writers.value) {
      const head = await store.head(writer);
      if (!head.ok) return failed("log", head.error.sentence);
      records += head.value?.seq ?? 0;
    }
    if (records === 0) return noted("log", `The ${name} log is empty, so there was nothing to verify in it.`);
    if (records > verifiedRecordsMax) {
      return passed(
        "log",
        `The ${name} log opens with ${records} records; \`sluicegate audit verify\` checks them all.`,
      );
    }
    const { head, findings } = remembered(logHome(process.env, name), keys);
    const verified = await verifyLog(store, keys, { remembered: head });
    if (!verified.ok) return failed("log", verified.error.sentence);
    const [first] = [...findings, ...verified.value.findings];
    if (first !== undefined)
      return failed("log", `${first.sentence} Run \`sluicegate audit verify\` for all findings of the ${name} log.`);
    const there = verified.value.writers.reduce((sum, writer) => sum + writer.records, 0);
    return passed("log", `The ${name} log is intact: ${there} records, every link and signature holds.`);
  } finally {
    await store.close(false);
  }
}

function checkPolicy(): Check {
  const files = userPolicies(process.env);
  const readings = installedReadings(process.env);
  if (readings.fault !== undefined) return failed("policy", readings.fault);
  const policies = new PolicyFiles(files, () => undefined, { readings });
  const loaded = policies.openAll();
  policies.close();
  if (!loaded.ok) return failed("policy", loaded.error);
  const names = files.map((file) => shortPath(file)).join(", ");
  const name = files.length === 0 ? "The default policy" : `The policy ${names}`;
  return loaded.value.settings.mode === "observe"
    ? noted("policy", `${name} loads, but is in observe mode: nothing is stopped.`)
    : passed("policy", `${name} loads.`);
}

function checkProcesses(): Check {
  if (process.platform === "win32") {
    return failed("guardian", "Local servers need Linux or macOS: reach servers over HTTP here.");
  }
  if (statSync("/bin/sh", { throwIfNoEntry: false }) === undefined) {
    return failed(
      "guardian",
      "There is no /bin/sh, so no guardian can end servers when Sluicegate is killed: install one.",
    );
  }
  return identify(process.pid).startedAt === ""
    ? noted("guardian", "Start times of processes are not readable here: a reused process id could be mistaken.")
    : passed("guardian", "Servers get a process group of their own and a guardian that ends it.");
}

function checkHooks(): Check {
  const file = join(homedir(), ".claude", "settings.json");
  try {
    if (statSync(file, { throwIfNoEntry: false }) === undefined) {
      return noted(
        "hooks",
        "No client with hooks was found; a client's own tools are outside of the guard without them.",
      );
    }
    const text = statSync(file).size > settingsBytesMax ? "" : readFileSync(file, "utf8");
    return text.includes("hook claude-code")
      ? passed("hooks", "Claude Code calls the hook, so its own tools are guarded too.")
      : noted("hooks", "Claude Code has no hook, so its own tools are outside of the guard: see docs/hooks.md.");
  } catch {
    return noted("hooks", `${shortPath(file)} cannot be read, so whether hooks are set is unknown.`);
  }
}

/** One check for each judge that is asked; none where no policy asks one, and nothing is loaded for that. */
export async function checkJudges(): Promise<readonly Check[]> {
  const asking = compiledPolicies().filter((policy) => policy.regulation.models.judge !== undefined);
  if (asking.length === 0) return [];
  const { ConfiguredModels } = await import("../../app/oracles/world-models.ts");
  const models = new ConfiguredModels(
    () => undefined,
    () => undefined,
  );
  const checks: Check[] = [];
  for (const policy of asking) {
    const examined = await models.examine(policy);
    if (examined === undefined) continue;
    const { judge, said } = examined;
    if (judge.keyEnv !== undefined && !reachesDaemon(judge.keyEnv)) checks.push(noted("judge", unseenKey(judge)));
    const ms = said.ok ? Math.round(said.value) : 0;
    if (!said.ok)
      checks.push(
        failed(
          "judge",
          `The judge ${judge.name} gave no answer: ${said.error}. Until it does, calls are decided without it.`,
        ),
      );
    else if (ms > judge.waitMs) {
      const late = `The judge ${judge.name} needed ${ms} ms, with its test; calls wait at most ${judge.waitMs} ms for it.`;
      checks.push(noted("judge", late));
    } else {
      const where = judge.local ? "on this machine" : "elsewhere";
      checks.push(passed("judge", `The judge ${judge.name}, ${where}, answers in ${ms} ms and obeyed no evidence.`));
    }
  }
  return checks;
}

/** A key found here, in the whole environment, would mislead a user whose servers run behind the daemon. */
function unseenKey({ name, keyEnv = "" }: Judge): string {
  return `Servers behind \`sluicegate run\` go without the judge ${name}: their daemon does not take over ${keyEnv}. Give the key a name that begins with SLUICEGATE_.`;
}
