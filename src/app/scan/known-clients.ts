/**
 * Places where clients are known to keep the list of their servers, on any system: only a file that exists is read. A list
 * that is kept elsewhere is named on the command line.
 */
import { homedir } from "node:os";
import { join } from "node:path";

/** Paths below the home folder. */
const belowHome = [
  ".claude.json",
  ".config/Claude/claude_desktop_config.json",
  "Library/Application Support/Claude/claude_desktop_config.json",
  "AppData/Roaming/Claude/claude_desktop_config.json",
  ".cursor/mcp.json",
  ".codeium/windsurf/mcp_config.json",
  ".gemini/settings.json",
  ".config/Code/User/mcp.json",
  "Library/Application Support/Code/User/mcp.json",
  "AppData/Roaming/Code/User/mcp.json",
  ".config/opencode/opencode.json",
  ".config/zed/settings.json",
  ".cline/data/settings/cline_mcp_settings.json",
  ".lmstudio/mcp.json",
  ".codex/config.toml",
  ".copilot/mcp-config.json",
  ".config/goose/config.yaml",
  "AppData/Roaming/Block/goose/config/config.yaml",
  ".gemini/antigravity/mcp_config.json",
  ".continue/config.yaml",
  ".config/amp/settings.json",
  ".kiro/settings/mcp.json",
] as const;

/** Paths below the working directory: what a project brings along. */
const belowProject = [
  ".mcp.json",
  ".cursor/mcp.json",
  ".vscode/mcp.json",
  "opencode.json",
  ".gemini/settings.json",
  ".codex/config.toml",
  ".kiro/settings/mcp.json",
  ".roo/mcp.json",
] as const;

/** Every place where a client of this user might have written its servers. */
export function knownConfigs(workingDirectory: string): readonly string[] {
  const home = homedir();
  return [...belowProject.map((path) => join(workingDirectory, path)), ...belowHome.map((path) => join(home, path))];
}
