/** `git`, whose options, settings and remotes can all name programs. */
import { addDestination, isRemote } from "./destinations.ts";
import { add, addEverything, addWrite } from "./findings.ts";
import {
  type Arguments,
  type Invocation,
  type Program,
  hasOption,
  optionValues,
  splitArguments,
} from "./invocation.ts";

const reads =
  /^(?:status|log|diff|show|blame|rev-parse|rev-list|ls-files|ls-tree|cat-file|describe|shortlog|reflog|grep|version|help|for-each-ref|merge-base|name-rev|count-objects|whatchanged)$/;
const writes =
  /^(?:add|commit|merge|checkout|switch|restore|mv|init|stash|tag|branch|cherry-pick|revert|apply|am|worktree|notes|archive|format-patch|bundle|gc|fsck|reset|clean|rm|rebase)$/;
const fetches = /^(?:clone|fetch|pull|ls-remote|submodule|remote-update|lfs|fetch-pack)$/;

/** Long options that name a program, of which the beginning is enough. */
const running =
  "upload-pack receive-pack exec config open-files-in-pager ext-diff textconv filters extcmd template".split(" ");

function runsProgram(text: string): boolean {
  if (/^(?:-[a-zA-Z]*[cux]|-O)/.test(text) || text.includes("ext::")) return true;
  const name = /^--([a-z-]{2,})/.exec(text)?.[1];
  return name !== undefined && running.some((one) => one.startsWith(name));
}

type Call = {
  readonly name: string;
  readonly words: readonly string[];
  readonly parts: Arguments;
  readonly found: Invocation["found"];
};

export const git: Program = ({ args, found }) => {
  const outer = splitArguments(args, { valued: "C c git-dir work-tree namespace exec-path config-env", stop: true });
  const [sub, ...own] = outer.rest;
  if (sub?.exact === false) return addEverything(found, "hidden");
  const name = sub?.text ?? "";
  // A setting on the command line may name a program: an editor, a pager, an alias with `!`. So may those of a folder.
  if (hasOption(outer, "c", "exec-path", "config-env", "git-dir")) add(found, "execute.local");
  const words = own.map(({ text }) => text);
  const parts = splitArguments(own, { valued: "b o m u t F C output" });
  // Written by what only shows, too.
  for (const word of optionValues(parts, "output")) addWrite(found, word);
  const call = { name, words, parts, found };
  if (/^(?:push|send-pack)$/.test(name)) push(call);
  else if (fetches.test(name)) fetch(call);
  else if (name === "config" || name === "remote") settings(call);
  else if (reads.test(name) || name === "") {
    const loses = name === "reflog" && /^(?:expire|delete)$/.test(parts.rest[0]?.text ?? "");
    add(found, loses ? "write.local.delete" : "read.local");
    const runs = /^--(?:op|ext|textc|filt)/;
    if (words.some((text) => runs.test(text)) || (name === "grep" && words.some((text) => text.startsWith("-O"))))
      add(found, "execute.local");
  } else if (writes.test(name)) write(call);
  else if (/^(?:send-email|imap-send)$/.test(name)) add(found, "write.external.send");
  else if (name.startsWith("credential")) add(found, "read.local.credential");
  else add(found, "execute.local");
};

function push({ words, parts, found }: Call): void {
  add(found, "write.external.publish");
  if (words.some((text) => /^(?:--(?:de|mi|pr|f)|-[a-zA-Z]*[df]|\+|:)/.test(text))) add(found, "write.external.delete");
  if (words.some((text) => /^--(?:exec|rec)|ext::/.test(text))) add(found, "execute.local");
  for (const word of parts.rest.slice(0, 1)) if (isRemote(word)) addDestination(found, word);
}

function fetch({ name, words, parts, found }: Call): void {
  add(found, "read.external", "write.local");
  if (words.some(runsProgram) || parts.rest[0]?.text === "foreach") add(found, "execute.local");
  if (name === "lfs" && parts.rest[0]?.text === "push") add(found, "write.external.publish");
  for (const word of parts.rest) if (isRemote(word)) addDestination(found, word);
}

/** `config` and `remote`: what is not surely a question sets something. */
function settings({ name, words, parts, found }: Call): void {
  const [first, ...more] = parts.rest.map(({ text }) => text);
  const asks =
    first === undefined
      ? words.every((text) => /^(?:-[lvz]+|--(?:list|verbose|global|local|system|show-.*|name-only|null))$/.test(text))
      : name === "remote"
        ? /^(?:show|get-url)$/.test(first)
        : words.some((text) => /^(?:--get.*|--list|-l)$/.test(text)) ||
          /^(?:get|list)$/.test(first) ||
          (more.length === 0 &&
            words.every((text) => /^(?:[^-].*|--(?:global|local|system|bool|int|path))$/.test(text)));
  add(found, asks ? "read.local" : "write.local.config");
  if (name === "remote" && (first === "update" || (first === "show" && more.length > 0))) add(found, "read.external");
  if (asks) return;
  for (const word of parts.rest) if (isRemote(word)) addDestination(found, word);
  if (name === "config" || words.some((text) => text.includes("ext::"))) add(found, "execute.local");
}

function write({ name, words, parts, found }: Call): void {
  const first = parts.rest[0]?.text ?? "";
  const lossy =
    /^(?:rm|clean)$/.test(name) ||
    (name === "reset" && words.some((text) => /^--ha?/.test(text))) ||
    (name === "stash" && /^(?:drop|clear)$/.test(first)) ||
    (name === "worktree" && first === "remove") ||
    words.includes("-D");
  add(found, lossy ? "write.local.delete" : "write.local");
  const runs = words.some((text) => /^(?:--ex|-[a-zA-Z]*x)/.test(text)) && name === "rebase";
  if (runs || words.some((text) => text.startsWith("--templ"))) add(found, "execute.local");
  for (const text of words.filter((one) => name === "archive" && one.startsWith("--re"))) {
    add(found, "read.external");
    addDestination(found, { text: text.slice(text.indexOf("=") + 1), exact: true });
  }
}
