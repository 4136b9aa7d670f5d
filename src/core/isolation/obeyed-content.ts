/**
 * Files whose name does not tell whether a program obeys them, and what in them does. Git takes any folder with `HEAD`,
 * `objects` and `refs` for a repository and runs what its `config` and `hooks` name, so a repository can lie in `docs/`
 * (https://git-scm.com/docs/git-config#Documentation/git-config.txt-safebareRepository).
 *
 * A content is judged as bytes read as Latin-1: all that is looked for is ASCII, and no invalid sequence hides a part.
 */
import { foldedName } from "./execution-hooks.ts";
import type { ObeyedFile } from "./obeyed/row.ts";

type Telling = {
  readonly file: ObeyedFile;
  readonly source: string;
  /** The folded name. */
  readonly name: RegExp;
  readonly content: RegExp;
};

/** A file `HEAD` as git accepts it: a symbolic ref, or an object id. */
const headText = /^(?:ref:|[0-9a-f]{40})/i;

/** Sections from which git takes commands, paths of hooks, or further files. */
const gitSection =
  /\[(?:core|include|includeif|alias|filter|diff|merge|mergetool|difftool|credential|gpg|remote|url|pager|sequence|interactive|submodule|extensions|uploadpack|receive|sendemail|browser|man|guitool|hook|trailer|init|imap|instaweb|tar|protocol)[\s.\]]/i;

/** A module named by a path: `./x`, `../x` or an absolute one, in JSON, YAML, TOML or an INI file. */
const modulePath = /(?:["'\s:=[(,-]|^)(?:\.\.?\/|\/|file:)[^\s"',\]]*/;

const insideRepository: ObeyedFile = { id: "embedded-repository", why: "git would take the folder for a repository" };
const gitSettings: ObeyedFile = { id: "git-config", why: "git takes commands to run from it" };
const codeOfConfig: ObeyedFile = { id: "tool-config", why: "a tool or an editor loads code that it names" };

const tellings: readonly Telling[] = [
  {
    file: insideRepository,
    source: "https://git-scm.com/docs/gitrepository-layout",
    name: /^head$/,
    content: headText,
  },
  { file: gitSettings, source: "https://git-scm.com/docs/git-config", name: /^config$/, content: gitSection },
  {
    file: gitSettings,
    source: "https://git-scm.com/docs/gitmodules",
    name: /^\.gitmodules$/,
    content: /=\s*"?(?:!|-|\\-|ext::|fd::)/i,
  },
  {
    file: { id: "shell-start", why: "it holds a command, and shells read it when the folder is entered" },
    source: "https://github.com/ohmyzsh/ohmyzsh/tree/master/plugins/dotenv",
    name: /^\.env(?:\.[^/]*)?$/,
    content: /\$\(|`|^\s*(?:source|eval|\.)\s|;\s*\w+\s/m,
  },
  {
    file: codeOfConfig,
    source: "https://eslint.org/docs/latest/use/configure/plugins",
    name: /^\.(?:eslintrc|prettierrc|stylelintrc|babelrc|swcrc|remarkrc|markdownlint|markdownlint-cli2)(?:\.(?:json|jsonc|json5|ya?ml|toml))?$/,
    content: modulePath,
  },
  {
    file: codeOfConfig,
    source: "https://docs.rubocop.org/rubocop/extensions.html",
    name: /^\.(?:rubocop|rubocop_todo|haml-lint|slim-lint|reek)\.ya?ml$/,
    content: /<%|(?:require|plugins|inherit_from|inherit_gem)\s*:/,
  },
  {
    file: codeOfConfig,
    source: "https://pylint.readthedocs.io/en/stable/user_guide/configuration/all-options.html",
    name: /^\.?pylintrc(?:\.toml)?$/,
    content: /init-hook|load-plugins/,
  },
  {
    file: codeOfConfig,
    source: "https://mypy.readthedocs.io/en/stable/extending_mypy.html",
    name: /^\.?mypy\.ini$/,
    content: /^\s*(?:plugins|python_executable)\s*=/m,
  },
  {
    file: codeOfConfig,
    source: "https://flake8.pycqa.org/en/latest/user/configuration.html",
    name: /^\.flake8$/,
    content: /local-plugins|^\s*paths\s*=/m,
  },
];

/** Bytes of a file whose content is looked at; a larger one of these names counts as obeyed, since all of it counts. */
export const obeyedContentBytesMax = 262_144;

/** The pages that say of which content a program executes something. */
export const contentSources: readonly string[] = tellings.map(({ source }) => source);

/** Whether the content of the file at this path has to be looked at. */
export function tellsByContent(path: string): boolean {
  return tellingOf(path).length > 0;
}

/**
 * The kind of the file at this path with this content (Latin-1), or undefined for a file that nothing obeys. Without a
 * content (it is a link, too large, or cannot be read) the worst is presumed.
 */
export function obeyedByContent(path: string, content: string | undefined): ObeyedFile | undefined {
  return tellingOf(path).find((telling) => content === undefined || telling.content.test(content))?.file;
}

function tellingOf(path: string): readonly Telling[] {
  const parts = path.split("/");
  // The repository that holds the workspace is git's own; its settings are guarded by name.
  if (parts.slice(0, -1).some((part) => foldedName(part) === ".git")) return [];
  const name = foldedName(parts.at(-1) ?? "");
  return tellings.filter((telling) => telling.name.test(name));
}

/** True for a path at which git looks for the `HEAD` of a repository, outside of `.git`. */
export function isHeadPath(path: string): boolean {
  return tellingOf(path).some(({ file }) => file === insideRepository);
}

/** True for the content (Latin-1) of a file `HEAD` by which git knows a repository. */
export function isRepositoryHead(content: string): boolean {
  return headText.test(content);
}

/** What of a repository git obeys, below the folder that holds its `HEAD`. */
const obeyedParts = new Set([
  "config",
  "config.worktree",
  "commondir",
  "gitdir",
  "hooks",
  "info",
  "modules",
  "worktrees",
]);

/**
 * The folders that a path would be an obeyed part of, were they repositories: `x/hooks/y` may be a hook of `x`. The empty
 * text is the workspace itself. Bounded by the parts of the path.
 */
export function repositoriesAround(path: string): readonly string[] {
  const parts = path.split("/");
  return parts.flatMap((part, index) => {
    const name = foldedName(part);
    const alternates = name === "objects" && foldedName(parts[index + 1] ?? "") === "info";
    return obeyedParts.has(name) || alternates ? [parts.slice(0, index).join("/")] : [];
  });
}

/** The guard of what git obeys in a repository that is there already. */
export const repositoryPart: ObeyedFile = {
  id: "embedded-repository",
  why: "git obeys it in the repository around it",
};
