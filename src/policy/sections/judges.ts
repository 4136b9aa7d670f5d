/**
 * The section `judges`: models that may be asked, and what they may be sent. A judge that leaves the machine is a sink:
 * unless the policy says more, it is sent what is public; one on this machine may be sent everything.
 */
import type { Label } from "../../core/label.ts";
import { type Reporter, information, problem, warning } from "../document/diagnostic.ts";
import { boundForm, mapValues, sortedWords } from "../document/label-forms.ts";
import { given, mapped } from "../../core/given.ts";
import type { BoundForm } from "../document/long-form.ts";
import { type Infer, flag, integer, mapOf, object, oneOf, optional, text } from "../document/shape.ts";
import { variablePattern } from "../document/shapes-isolation.ts";
import { bound, duration, namePattern, words } from "../document/shapes-labels.ts";
import type { LabelCompiler } from "../ir/label-table.ts";
import { canonicalDuration, durationMs } from "../values/duration.ts";

const judge = object("a judge", {
  /** Where it is reached; none for a model file that runs inside the gateway. */
  url: optional(text("URL"), "where it is reached"),
  /** Name of the model at that address, or the path of a GGUF file. */
  model: optional(text("model"), "which model it is, or the path of a GGUF file"),
  kind: optional(oneOf("kind", ["openai", "ollama", "llama-cpp", "gguf"]), "how it is spoken to"),
  /** Largest label of evidence that may be sent to it. */
  bound: optional(bound, "largest label of evidence that may be sent to it"),
  /** Groups that see its prompts; `anyone` unless it runs on this machine. */
  audience: optional(words, "groups that see its questions"),
  /** Form of evidence above its bound: shapes and names, or nothing (then it is not asked). */
  above: optional(oneOf("choice", ["shapes", "nothing"]), "what it gets of evidence above its bound"),
  /** Longest wait for one answer. */
  wait: optional(duration, "longest wait for its answer"),
  /** Tokens of one question with its answer. */
  tokensMax: optional(integer("tokens", 1, 10_000_000), "tokens of one question with its answer"),
  /** Tokens of all questions of one run. */
  runTokensMax: optional(integer("tokens", 1, 1_000_000_000), "tokens of all questions of one run"),
  /** Environment variable that holds the key; the key itself is never written into a policy. */
  keyEnv: optional(text("environment variable", variablePattern, "JUDGE_KEY"), "variable that holds its key"),
  /** Whether it is tested with an order hidden in evidence before its answers count. */
  canary: optional(flag, "test it with an order hidden in evidence before its answers count"),
  /** `schema`: it answers JSON; `tags`: it was trained on the tag protocol. */
  answers: optional(oneOf("choice", ["schema", "tags"]), "form of its answers"),
  /** Ask for one word first, and for the whole answer only where its probability leaves a doubt. */
  labelFirst: optional(flag, "ask for one word first where probabilities are given"),
});
export interface JudgeText extends Infer<typeof judge> {}

/** As written: judges by name. */
export const shape = mapOf<JudgeText>("judge", judge, namePattern);

type Defaults = "kind" | "above" | "wait" | "tokensMax" | "runTokensMax" | "canary" | "answers" | "labelFirst";
/** `bound` and `audience` stay absent where none is written: their default depends on where the judge runs, which compiling finds. */
export type JudgeForm = Omit<JudgeText, Defaults | "bound" | "audience"> &
  Required<Pick<JudgeText, Defaults>> & { readonly bound?: BoundForm; readonly audience?: readonly string[] };
export type JudgesForm = { readonly [name: string]: JudgeForm };

/** The long form: defaults written out, so that the canonical policy shows what holds. */
export function canonical(judges: Infer<typeof shape>): JudgesForm {
  return mapValues(judges, (judge) =>
    given<JudgeForm>({
      url: judge.url,
      model: judge.model,
      kind: judge.kind ?? "openai",
      bound: mapped(judge.bound, boundForm),
      audience: mapped(judge.audience, sortedWords),
      above: judge.above ?? "shapes",
      wait: canonicalDuration(judge.wait ?? "2s"),
      tokensMax: judge.tokensMax ?? 8_192,
      runTokensMax: judge.runTokensMax ?? 500_000,
      keyEnv: judge.keyEnv,
      canary: judge.canary ?? true,
      answers: judge.answers ?? "schema",
      labelFirst: judge.labelFirst ?? true,
    }),
  );
}

export type Judge = {
  readonly name: string;
  readonly kind: NonNullable<JudgeText["kind"]>;
  /** Base address without a slash at its end; undefined for a model inside this process. */
  readonly url: string | undefined;
  /** Model name, or path of a GGUF file. */
  readonly model: string;
  /** It runs on this machine, so its prompts never leave the machine. */
  readonly local: boolean;
  /** Restrictions that evidence must not carry to be sent as it is: (bound, audience) compiled by `forbiddenAt`. */
  readonly forbidden: Label;
  readonly above: "shapes" | "nothing";
  readonly waitMs: number;
  readonly tokensMax: number;
  readonly runTokensMax: number;
  /** Name of an environment variable; the key never stands in a policy. */
  readonly keyEnv: string | undefined;
  readonly canary: boolean;
  readonly answers: "schema" | "tags";
  readonly labelFirst: boolean;
};

/** Judges by the name that the policy gives them. */
export type Judges = ReadonlyMap<string, Judge>;

/** Longest wait for one answer; a call is not held longer than its client waits (gateway.md 5). */
const judgeWaitMsMax = 60_000;

/** Judges by name; with problems reported, the result is not used. */
export function compile(policy: Needs, labels: LabelCompiler, report: Reporter): Judges {
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

type Needs = {
  readonly judges?: JudgesForm;
  readonly limits: { readonly answerWait: string };
  readonly regulation?: { readonly models?: { readonly judge?: string } };
  readonly isolation?: { readonly judge?: { readonly use: string } };
};

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

/** The operator of a remote judge is `anyone`: data that not everyone may read never goes there, whatever its level. */
function forbiddenTo(name: string, form: JudgeForm, local: boolean, labels: LabelCompiler): Label {
  const path = ["judges", name, "bound"];
  const audience = form.audience ?? (local ? [] : ["anyone"]);
  labels.groupBits(audience, ["judges", name, "audience"]);
  if (form.bound !== undefined) return labels.forbidden(form.bound, audience, path);
  const { levels, categories } = labels.lattice;
  // A model on this machine may receive everything except data that its declared audience must not read.
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
    const message = `the model file of \`${name}\` is not an absolute path`;
    report(problem("JUDGE-MODEL", [...path, "model"], message, "write the absolute path of a GGUF file"));
  }
}

/** Addresses of this machine itself. A name other than `localhost` could be made to mean another machine. */
function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.[0-9]{1,3}){3}$/.test(hostname);
}
