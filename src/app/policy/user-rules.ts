/**
 * Rules that `approve --always` writes into a policy of the user, and takes out again. A file is replaced as a whole, and
 * only by one that loads; its comments stay.
 */
import { existsSync, mkdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isMap, isSeq, parseDocument } from "yaml";
import { attempt } from "../../adapters/attempt.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { shortPath } from "../state/sentences.ts";
import { whyUnwritten } from "../state/text-file.ts";
import { configurationFolder, defaultPolicyName, loadFrom, policyFile } from "./policy-source.ts";

/** The policy of the user in which a rule belongs: the one in force, else the one that `run` reads without a flag. */
export function userPolicyFile(source: string | undefined, environment: NodeJS.ProcessEnv): string {
  if (source !== undefined && source !== defaultPolicyName) return source;
  return join(configurationFolder(environment), "policy.yaml");
}

const newPolicy = `# Rules beside those of the default policy.\nversion: 1\nextends: [${defaultPolicyName}]\n`;

/** The text of a policy with one more rule, given as a line of JSON; the same text where a rule has its id already. */
export function withRule(text: string, rule: string): Result<string, string> {
  const document = parseDocument(text);
  const added: unknown = JSON.parse(rule); // the gateway wrote it, and the policy that comes out is loaded before use
  const node = document.createNode(added, { flow: true });
  if (document.errors.length > 0 || !isMap(document.contents)) return err("it is no map in YAML or JSON");
  const rules = document.get("rules");
  if (rules !== undefined && !isSeq(rules)) return err("its `rules` are no list");
  if (isSeq(rules) && rules.items.some((item) => isMap(item) && item.get("id") === idOf(added))) return ok(text);
  if (isSeq(rules)) rules.add(node);
  else document.set("rules", document.createNode([node]));
  return ok(written(document, text));
}

/** The text of a policy without the rule of this id; undefined where it has none. */
export function withoutRule(text: string, id: string): string | undefined {
  const document = parseDocument(text);
  const rules = document.errors.length > 0 || !isMap(document.contents) ? undefined : document.get("rules");
  if (!isSeq(rules)) return undefined;
  const at = rules.items.findIndex((item) => isMap(item) && item.get("id") === id);
  if (at < 0) return undefined;
  rules.items.splice(at, 1);
  if (rules.items.length === 0) document.delete("rules");
  return written(document, text);
}

function written(document: ReturnType<typeof parseDocument>, before: string): string {
  // JSON is YAML, but a reader of JSON must be able to read it afterwards as well.
  if (before.trimStart().startsWith("{")) return `${JSON.stringify(document.toJS(), undefined, 2)}\n`;
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

function idOf(rule: unknown): unknown {
  return typeof rule === "object" && rule !== null && "id" in rule ? rule.id : undefined;
}

/** Adds a rule to a policy file, which is made where there is none. The error is a sentence, and the file is as it was. */
export function addRule(file: string, rule: string): Result<void, string> {
  const read = existsSync(file) ? policyFile(file) : ok({ file, text: newPolicy });
  if (!read.ok) return read;
  const { text = "" } = read.value as { readonly text?: string }; // a file has a text
  const changed = withRule(text, rule);
  if (!changed.ok) return err(`${shortPath(file)} cannot take the rule: ${changed.error}. Add it there yourself.`);
  return replaced(file, changed.value);
}

/** Takes a rule out of a policy file; false where the file has none of this id. */
export function removeRule(file: string, id: string): Result<boolean, string> {
  const read = existsSync(file) ? policyFile(file) : undefined;
  if (read === undefined || !read.ok) return ok(false);
  const { text = "" } = read.value as { readonly text?: string }; // a file has a text
  const changed = withoutRule(text, id);
  if (changed === undefined) return ok(false);
  const done = replaced(file, changed);
  return done.ok ? ok(true) : done;
}

/** Replaces a policy by a text that loads, in one step, behind links and with the same permissions. */
function replaced(file: string, text: string): Result<void, string> {
  const target = attempt(() => realpathSync(file), file);
  const draft = join(dirname(target), `.${basename(target)}.${process.pid}.yaml`);
  try {
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    writeFileSync(draft, text, { flag: "wx", mode: existsSync(target) ? statSync(target).mode & 0o777 : 0o600 });
    const loaded = loadFrom(draft);
    const faults = loaded.ok ? loaded.value.diagnostics.filter(({ severity }) => severity === "error") : [];
    const fault = loaded.ok ? faults[0]?.message : loaded.error;
    if (fault !== undefined) return err(`${shortPath(file)} would not load with that (${fault}): nothing was changed.`);
    renameSync(draft, target);
    return ok(undefined);
  } catch (cause) {
    return err(`${shortPath(file)} cannot be written (${whyUnwritten(cause)}): fix that, then repeat.`);
  } finally {
    rmSync(draft, { force: true });
  }
}
