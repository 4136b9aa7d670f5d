/**
 * Files that programs of the user (version control, shell, editor, agent, package manager) execute or obey by themselves:
 * writing one runs code later, whatever folder it is in. No isolated server may write one, and a call to any other server
 * needs consent to do so (docs/decisions/0019).
 *
 * `package.json`, build files and tests are not here although they can run code: changing them is what coding agents
 * are for, and they run at the request of the user.
 */

/** Kind of such a file; `why` is a clause that follows its name. */
export type ObeyedFile = { readonly id: string; readonly why: string };

type Row = { readonly id: string; readonly why: string; readonly patterns: readonly string[] };

/** Parts of a pattern match parts of a path from any folder on; one that ends in `/` covers everything below. */
const rows: readonly Row[] = [
  {
    id: "git-hook",
    why: "git runs it on commit, checkout or merge",
    patterns: [
      ".git/hooks/",
      ".git/modules/",
      ".git/worktrees/",
      ".githooks/",
      ".husky/",
      ".pre-commit-config.yaml",
      "lefthook.yml",
      ".lefthook.yml",
      "lefthook.yaml",
    ],
  },
  {
    id: "git-config",
    why: "git takes commands to run from it",
    patterns: [
      ".git/config",
      ".git/config.worktree",
      ".git/commondir",
      ".git/gitdir",
      ".git/info/attributes",
      ".git/objects/info/alternates",
      ".gitconfig",
      ".config/git/",
    ],
  },
  {
    id: "agent-servers",
    why: "agents start the servers that it names",
    patterns: [
      ".mcp.json",
      "mcp.json",
      ".vscode/mcp.json",
      ".cursor/mcp.json",
      "claude_desktop_config.json",
      ".sluicegate/",
    ],
  },
  {
    id: "agent-rules",
    why: "agents obey it as instructions",
    patterns: [
      "claude.md",
      "claude.local.md",
      "agents.md",
      "agents.override.md",
      "agent.md",
      "gemini.md",
      "warp.md",
      "crush.md",
      "qwen.md",
      ".cursorrules",
      ".windsurfrules",
      ".clinerules",
      ".clinerules/",
      ".roorules",
      ".roomodes",
      ".rules",
      ".goosehints",
      ".aider.conf.yml",
      ".github/copilot-instructions.md",
      ".github/instructions/",
      ".github/prompts/",
      ".github/agents/",
      ".github/chatmodes/",
      ".cursor/",
      ".windsurf/",
      ".claude/",
      ".codex/",
      ".gemini/",
      ".qwen/",
      ".continue/",
      ".roo/",
      ".junie/",
      ".kiro/",
      ".amazonq/",
      ".augment/",
      ".trae/",
      ".opencode/",
      "opencode.json",
      ".agents/",
      ".agent/",
      ".goose/",
    ],
  },
  {
    id: "editor-tasks",
    why: "editors run commands from it when the folder is opened or built",
    patterns: [
      ".vscode/tasks.json",
      ".vscode/settings.json",
      ".vscode/launch.json",
      ".vscode/extensions.json",
      ".idea/",
      ".zed/",
      ".fleet/",
      ".devcontainer/",
      ".devcontainer.json",
      ".exrc",
      ".nvimrc",
      ".nvim.lua",
      ".vimrc",
      ".gvimrc",
      ".lvimrc",
      ".vim/",
      ".dir-locals.el",
      ".emacs",
      ".emacs.d/",
      ".config/nvim/",
    ],
  },
  {
    id: "shell-start",
    why: "shells and sessions run it when they start",
    patterns: [
      ".envrc",
      ".bashrc",
      ".bash_profile",
      ".bash_login",
      ".bash_logout",
      ".bash_aliases",
      ".profile",
      ".zshrc",
      ".zshenv",
      ".zprofile",
      ".zlogin",
      ".zlogout",
      ".kshrc",
      ".cshrc",
      ".tcshrc",
      ".login",
      ".logout",
      ".inputrc",
      ".xprofile",
      ".xinitrc",
      ".xsessionrc",
      ".pam_environment",
      ".config/fish/",
      ".config/autostart/",
      ".config/systemd/",
      ".config/environment.d/",
      ".ssh/",
      ".gnupg/",
      ".tmux.conf",
      ".mise.toml",
      "mise.toml",
      ".direnv/",
    ],
  },
  {
    id: "package-manager",
    why: "package managers take registries, scripts or hooks from it",
    patterns: [
      ".npmrc",
      ".yarnrc",
      ".yarnrc.yml",
      ".yarn/releases/",
      ".yarn/plugins/",
      ".pnpmfile.cjs",
      ".pnpmfile.mjs",
      "bunfig.toml",
      ".cargo/",
      ".pypirc",
      ".netrc",
      ".pip/",
      ".config/pip/",
      ".bundle/",
      ".gemrc",
      ".condarc",
      ".config/pnpm/",
    ],
  },
  {
    id: "program-path",
    why: "it is run by its name in place of another program",
    patterns: [
      "node_modules/.bin/",
      ".venv/bin/",
      "venv/bin/",
      ".local/bin/",
      "bin/activate",
      "pyvenv.cfg",
      "sitecustomize.py",
      "usercustomize.py",
    ],
  },
  {
    id: "pipeline",
    why: "it runs with the repository's secrets once it is pushed",
    patterns: [
      ".github/workflows/",
      ".github/actions/",
      ".gitlab-ci.yml",
      ".circleci/",
      ".buildkite/",
      ".woodpecker/",
      ".drone.yml",
      "bitbucket-pipelines.yml",
      "azure-pipelines.yml",
    ],
  },
];

type Entry = { readonly file: ObeyedFile; readonly parts: readonly string[]; readonly below: boolean };

/** By first part, so that a path of n parts costs n look-ups. */
const byFirstPart = new Map<string, Entry[]>();
for (const { id, why, patterns } of rows) {
  for (const pattern of patterns) {
    const below = pattern.endsWith("/");
    const parts = pattern.split("/").filter((part) => part !== "");
    const entry = { file: { id, why }, parts, below };
    byFirstPart.set(parts[0] ?? "", [...(byFirstPart.get(parts[0] ?? "") ?? []), entry]);
  }
}

/**
 * One part of a path as file systems that fold names see it: without case (APFS, NTFS, casefold ext4), compatibility
 * forms and invisible characters (CVE-2014-9390: `.g\u200cit`), trailing dots and spaces or a stream name (NTFS).
 */
export function foldedName(part: string): string {
  const plain = part.normalize("NFKC").replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, "");
  const whole = (plain.split(":")[0] ?? "").replace(/[. ]+$/u, "");
  const folded = (whole === "" ? plain : whole).toLowerCase().replaceAll("ſ", "s").replaceAll("ı", "i");
  // The short name that old Windows file systems give to `.git` (CVE-2014-9390 again).
  return /^git~\d$/.test(folded) ? ".git" : folded;
}

/** The kind of the file at this path, or undefined. `isFolder`: it is known to be a folder. */
export function obeyedFile(path: string, isFolder: boolean): ObeyedFile | undefined {
  const parts = path.split("/").map(foldedName);
  for (const [index, part] of parts.entries()) {
    // A file or link `.git` leads git to a folder elsewhere, with hooks of the server's choice.
    if (part === ".git" && index === parts.length - 1 && !isFolder) return gitItself;
    for (const { file, parts: wanted, below } of byFirstPart.get(part) ?? []) {
      const here = parts.slice(index, index + wanted.length);
      if (here.length < wanted.length || !wanted.every((one, at) => one === here[at])) continue;
      if (below || index + wanted.length === parts.length) return file;
    }
  }
  return undefined;
}

const gitItself: ObeyedFile = { id: "git-folder", why: "it would put a repository of the server's making here" };
