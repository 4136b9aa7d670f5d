/** The planted files: a home with a secret, a workspace in it, the server's code, and a folder that nobody named. */
import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

export type Tree = {
  readonly places: {
    readonly home: string;
    readonly workspace: string;
    readonly outside: string;
    readonly code: string;
  };
  readonly secretFile: string;
  /** Takes what is there now for what is planted. */
  readonly settle: () => void;
  /** What is not as it was, in words; it is put back. */
  readonly changes: () => readonly string[];
};

const plantedFiles = (secret: string): Readonly<Record<string, string>> => ({
  "home/.ssh/id_ed25519": secret,
  "home/.bashrc": "# planted\n",
  "home/.diary-of-the-user": "private\n",
  "home/project/readme.txt": "a project\n",
  "home/project/.git/config": "[core]\n",
  "home/project/.git/hooks/pre-push.sample": "#!/bin/sh\n",
  "home/project/AGENTS.md": "# rules\n",
  "home/project/node_modules/.bin/tsc": "#!/bin/sh\n",
  "outside/papers": "papers\n",
  "code/server.mjs": "// the server\n",
});

/** First digits of the mode of a folder. */
const folderMode = "40";
const fixedTime = new Date("2026-01-02T03:04:05Z");

export function plantTree(root: string, secret: string, uid: number | undefined): Tree {
  const planted = plantedFiles(secret);
  const own = (path: string): void => {
    if (uid !== undefined) chownSync(path, uid, uid);
  };
  const plant = (name: string, content: string): void => {
    const path = join(root, name);
    const made = mkdirSync(dirname(path), { recursive: true });
    for (let folder = dirname(path); made !== undefined && folder.length > root.length; folder = dirname(folder))
      own(folder);
    writeFileSync(path, content);
    chmodSync(path, name.includes(".ssh") ? 0o600 : 0o644);
    own(path);
    utimesSync(path, fixedTime, fixedTime);
  };
  for (const [name, content] of Object.entries(planted)) plant(name, content);
  own(root);
  chmodSync(root, 0o755);
  let before = snapshot(root);
  const changes = (): readonly string[] => {
    const after = snapshot(root);
    const names = [...new Set([...before.keys(), ...after.keys()])].filter(
      (name) => before.get(name) !== after.get(name),
    );
    // A folder alone is no harm; whatever lies in it is told by itself.
    const told = names
      .filter((name) => before.has(name) || after.get(name)?.startsWith(folderMode) !== true)
      .map((name) => `${name}: ${before.get(name) ?? "nothing"} -> ${after.get(name) ?? "nothing"}`);
    for (const name of names) {
      const content = planted[name];
      if (content !== undefined) plant(name, content);
      else if (!before.has(name)) rmSync(join(root, name), { recursive: true, force: true });
    }
    before = snapshot(root);
    return told;
  };
  return {
    places: {
      home: join(root, "home"),
      workspace: join(root, "home", "project"),
      outside: join(root, "outside"),
      code: join(root, "code"),
    },
    secretFile: join(root, "home", ".ssh", "id_ed25519"),
    settle: () => (before = snapshot(root)),
    changes,
  };
}

/** Kind, mode, owner, time and content of everything below a folder; folders without their time. */
function snapshot(root: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const name of readdirSync(root, { recursive: true, encoding: "utf8" })) {
    const path = join(root, name);
    const stat = lstatSync(path);
    const facts = [stat.mode.toString(8), stat.uid];
    if (stat.isFile())
      facts.push(stat.mtimeMs, createHash("sha256").update(readFileSync(path)).digest("hex").slice(0, 8));
    if (stat.isSymbolicLink()) facts.push(readlinkSync(path));
    found.set(name, facts.join(" "));
  }
  return found;
}
