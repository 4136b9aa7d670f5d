/** `sluicegate factor [add|remove NAME]`: what proves an approver, and the enrolment of it. */
import type { Command } from "commander";
import { userInfo } from "node:os";
import { join } from "node:path";
import { connectOrStart } from "../../adapters/daemon/connect.ts";
import { daemonPaths } from "../../adapters/daemon/paths.ts";
import type { Reply } from "../../app/gateway/control-contract.ts";
import { packageFolder } from "../../app/policy/policy-source.ts";
import { type Outcome, failure } from "../../app/state/outcome.ts";
import { shown } from "../../app/state/sentences.ts";
import type { Result } from "../../core/result.ts";
import { typed } from "../agreed.ts";
import { type ControlFailure, askDaemon, outcomeOf } from "../control-client.ts";
import { hiddenLine } from "../hidden-line.ts";
import { showPage } from "../show-page.ts";
import { type Proving, askProven, codeOption, touchMsMax } from "../proven.ts";
import { type OptionsOf, acts } from "../output.ts";

const usage =
  "Use `sluicegate factor`, or `sluicegate factor add|remove NAME` with `password`, `device` or `presence`.";

export function register(program: Command): void {
  const command = program
    .command("factor [word] [name]")
    .description(
      "list what proves who approves (`approvals.factor`); `factor add password|device|presence` enrols one",
    );
  acts(command, codeOption, (options, word?: string, name?: string) => factor(options, word, name));
}

async function factor(options: OptionsOf<typeof codeOption>, word?: string, name?: string): Promise<Outcome> {
  const paths = daemonPaths(process.env);
  if (!paths.ok) return failure("SG-DAEMON-FOLDER", paths.error);
  if (word !== undefined && name === undefined) return failure("SG-USAGE", usage);
  // The daemon knows which client processes are guarded, so it is the one that enrols.
  const running = await connectOrStart(paths.value, { entry: join(packageFolder, "bin", "sluicegate.js") });
  if (!running.ok) return failure("SG-DAEMON-START", running.error);
  running.value.destroy();
  const proving = { code: options.code, daemonOnly: true };
  if (word === undefined) return outcomeOf(await askDaemon({ kind: "factors" }, { daemonOnly: true }), listText);
  const add = name === undefined || !Object.hasOwn(adding, name) ? undefined : adding[name];
  if (name === undefined || add === undefined) return failure("SG-USAGE", usage);
  if (word === "add") return add(proving);
  if (word !== "remove") return failure("SG-USAGE", usage);
  const removed = await askProven({ kind: "factor-remove", factor: name }, proving);
  return outcomeOf(removed, ({ removed: done }) => (done ? "Removed." : "Nothing was enrolled."));
}

const adding: Readonly<Record<string, (proving: Proving) => Promise<Outcome>>> = {
  password: addPassword,
  device: addDevice,
  presence: addKey,
};

/** Asks for a new password twice; the one before it proves the change. */
async function addPassword(proving: Proving): Promise<Outcome> {
  const password = await hiddenLine("New password for Sluicegate: ");
  if (password === undefined)
    return failure("SG-FACTOR", "A password is typed at a terminal, and there is none: run this in one.");
  if ((await hiddenLine("The same again: ")) !== password)
    return { exitCode: 1, json: { enrolled: false }, text: "The two are not the same, so nothing was enrolled." };
  const added = await askProven({ kind: "factor-add", factor: "password", password }, proving);
  if (!added.ok) return failed(added);
  const text = "Enrolled. `approvals.factor: password` in a policy makes it count.";
  return { exitCode: 0, json: { enrolled: true }, text };
}

function listText({ factors }: Reply<"factors">): string {
  const lines = factors.map(({ factor: name, enrolled }) =>
    name === "terminal"
      ? `  ${name}: needs no enrolment`
      : `  ${shown(name)}: ${enrolled ? "enrolled" : "not enrolled"}`,
  );
  return ["What can prove who approves (`approvals.factor` of a policy):", ...lines].join("\n");
}

/** Shows the secret once and asks for a code of it: a device that was set up wrongly would lock its owner out. */
async function addDevice(proving: Proving): Promise<Outcome> {
  const begun = await askProven({ kind: "factor-add", factor: "device" }, proving);
  if (!begun.ok) return failed(begun);
  const { uri = "", secret = "" } = begun.value.reply;
  const parts = secret.match(/.{1,4}/g) ?? [];
  process.stderr.write(
    `Add this to the authenticator of your device, as account ${userInfo().username}:\n  ${parts.join(" ")}\n  ${uri}\n`,
  );
  const code = await typed("Code that it shows now: ");
  if (code === "") return { exitCode: 1, json: { enrolled: false }, text: "Nothing was enrolled." };
  const text = "Enrolled. `approvals.factor: device` in a policy makes it count.";
  return outcomeOf(
    await askDaemon({ kind: "factor-confirm", factor: "device", code }, { daemonOnly: true }),
    () => text,
  );
}

/** Registers a key on a page of the daemon, and waits until that is done. */
async function addKey(proving: Proving): Promise<Outcome> {
  const begun = await askProven({ kind: "factor-add", factor: "presence" }, proving);
  if (!begun.ok) return failed(begun);
  showPage(begun.value.reply.url ?? "");
  const way = { daemonOnly: true, waitMsMax: touchMsMax };
  const done = await askDaemon({ kind: "factor-confirm", factor: "presence" }, way);
  if (!done.ok) return failed(done);
  if (!done.value.reply.enrolled)
    return { exitCode: 1, json: { enrolled: false }, text: "No key was touched in time, so none is registered." };
  const text = "Registered. `approvals.factor: presence` in a policy makes it count.";
  return { exitCode: 0, json: done.value.json, text };
}

function failed(answer: Result<never, ControlFailure> & { readonly ok: false }): Outcome {
  return failure(answer.error.code, answer.error.sentence);
}
