/**
 * Judges to what the oracles read. A judge that leaves the machine is a sink (foresight.md 4): unless the policy says
 * more, it may be told what is public; one on this machine may be told everything.
 */
import type { Label } from "../../core/label.ts";
import type { CanonicalPolicy, JudgeForm } from "../canonical/form.ts";
import { durationMs } from "../canonical/duration.ts";
import { information, problem, warning } from "../diagnostic.ts";
import type { Judge, Judges } from "../judges.ts";
import type { LabelCompiler, Reporter } from "./labels.ts";

/** Longest wait for one answer; a call is not held longer than its client waits (gateway.md 5). */
export const judgeWaitMsMax = 60_000;

/** Compiles the section; with problems reported, what comes back is not used. */
export function compileJudges(policy: CanonicalPolicy, labels: LabelCompiler, report: Reporter): Judges {
  const found = new Map<string, Judge>();
  for (const [name, form] of Object.entries(policy.judges ?? {})) {
    found.set(name, compileJudge(name, form, { labels, report, answerWait: policy.limits.answerWait }));
  }
  const asked = [policy.regulation?.models?.judge, policy.isolation?.judge?.use];
  for (const name of found.keys()) {
    if (asked.includes(name)) continue;
    report(
      information(
        "IDLE",
        ["judges", name],
        `nothing asks the judge \`${name}\``,
        "name it in `regulation.models.judge` or `isolation.judge`",
      ),
    );
  }
  return found;
}

type Scope = { readonly labels: LabelCompiler; readonly report: Reporter; readonly answerWait: string };

function compileJudge(name: string, form: JudgeForm, scope: Scope): Judge {
  const { report } = scope;
  const address = form.kind === "gguf" ? undefined : addressOf(name, form, report);
  if (form.kind === "gguf") checkFile(name, form, report);
  const local = form.kind === "gguf" || address?.local === true;
  if (form.model === undefined || form.model === "") {
    const remedy = form.kind === "gguf" ? "write the absolute path of a GGUF file" : "name the model that it serves";
    report(problem("JUDGE-MODEL", ["judges", name], `the judge \`${name}\` names no model`, remedy));
  }
  const waitMs = durationMs(form.wait) ?? 0;
  if (waitMs < 1 || waitMs > judgeWaitMsMax) {
    const message = `\`${form.wait}\` is out of range for the wait of \`${name}\``;
    report(problem("RANGE", ["judges", name, "wait"], message, `write at least 1ms and at most ${judgeWaitMsMax} ms`));
  }
  if (waitMs > (durationMs(scope.answerWait) ?? 0)) {
    const message = `\`${name}\` may take ${form.wait}, but no answer is awaited longer than ${scope.answerWait}`;
    report(warning("JUDGE-WAIT", ["judges", name, "wait"], message, "raise `limits.answerWait` or lower `wait`"));
  }
  return {
    name,
    kind: form.kind,
    url: address?.url,
    model: form.model ?? "",
    local,
    forbidden: forbiddenTo(name, form, local, scope.labels),
    above: form.above,
    waitMs,
    tokensMax: form.tokensMax,
    runTokensMax: form.runTokensMax,
    keyEnv: form.keyEnv,
    canary: form.canary,
    answers: form.answers,
    labelFirst: form.labelFirst,
  };
}

/** Whoever runs a judge elsewhere is `anyone`: what not everyone may read does not go there whatever its level. */
function forbiddenTo(name: string, form: JudgeForm, local: boolean, labels: LabelCompiler): Label {
  const path = ["judges", name, "bound"];
  const audience = form.audience ?? (local ? [] : ["anyone"]);
  labels.groupBits(audience, ["judges", name, "audience"]);
  if (form.bound !== undefined) return labels.forbidden(form.bound, audience, path);
  const { levels, categories } = labels.lattice;
  // Everything may be told to a model on this machine, except what its declared audience must not read.
  const all = { confidentiality: levels.at(-1) ?? "private", categories };
  if (local) return labels.forbidden(all, audience, path);
  const lowest = levels[0] ?? "public";
  return labels.forbidden({ confidentiality: lowest, categories: [] }, audience, path);
}

type Address = { readonly url: string; readonly local: boolean };

function addressOf(name: string, form: JudgeForm, report: Reporter): Address | undefined {
  const path = ["judges", name, "url"];
  const bad = (message: string, remedy: string): undefined => {
    report(problem("JUDGE-URL", path, message, remedy));
    return undefined;
  };
  if (form.url === undefined) return bad(`the judge \`${name}\` has no \`url\``, "write where it is reached");
  if (!URL.canParse(form.url)) return bad(`the \`url\` of \`${name}\` is no URL`, "write http://127.0.0.1:11434 or so");
  const url = new URL(form.url);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return bad(`the \`url\` of \`${name}\` is neither http nor https`, "write an http or https address");
  }
  // The text of such a URL may be a secret, so no message repeats it.
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    const message = `the \`url\` of \`${name}\` holds more than an address`;
    return bad(message, "put the key into an environment variable and name it in `keyEnv`");
  }
  const local = isLoopback(url.hostname);
  if (!local && url.protocol === "http:") {
    const message = `\`${name}\` is reached over the network without encryption`;
    if (form.keyEnv !== undefined) return bad(message, "write https, or leave out `keyEnv`");
    report(warning("JUDGE-URL", path, message, "write https where the server offers it"));
  }
  return { url: url.href.replace(/\/+$/, ""), local };
}

function checkFile(name: string, form: JudgeForm, report: Reporter): void {
  const path = ["judges", name];
  if (form.url !== undefined || form.keyEnv !== undefined) {
    const message = `\`${name}\` runs inside the gateway: it has no \`url\` and no \`keyEnv\``;
    report(problem("JUDGE-MODEL", path, message, "leave them out, or write another `kind`"));
  }
  if (form.model !== undefined && !/^(\/|[A-Za-z]:[\\/])/.test(form.model)) {
    const message = `the model file of \`${name}\` is no absolute path`;
    report(problem("JUDGE-MODEL", [...path, "model"], message, "write the absolute path of a GGUF file"));
  }
}

/** Addresses of this machine itself. A name other than `localhost` could be made to mean another machine. */
function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.[0-9]{1,3}){3}$/.test(hostname);
}
