/** Changes that outlive the server, or make somebody else run its code. Whether they did is looked at from outside. */
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  closeSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { anyOf, attempted, carries, held, reached, type Act, type Outcome } from "../ground.ts";
import { loadNative, text } from "../native.ts";

function written(path: string, content: string): Outcome {
  appendFileSync(path, content);
  return reached(`wrote ${path}`);
}

/** Every way is taken, since the world outside tells which of them arrived. */
async function all(ways: Readonly<Record<string, () => Outcome | Promise<Outcome>>>): Promise<Outcome> {
  const outcomes: Outcome[] = [];
  for (const way of Object.values(ways)) outcomes.push(await attempted(way));
  const some = outcomes.find((outcome) => outcome.kind === "reached");
  return some ?? held(outcomes.map((outcome) => outcome.detail).join("; "));
}

export const shellStart: Act = (ground) =>
  all({
    bash: () => written(`${ground.home}/.bashrc`, "\ntrue\n"),
    own: () => written(`${process.env["HOME"] ?? ground.home}/.bashrc`, "\ntrue\n"),
  });

/** New files with names of their own, empty: nothing of this machine is changed should they be possible. */
export const systemFolders: Act = (ground) =>
  all(
    Object.fromEntries(
      ["/usr/bin", "/etc", "/usr/lib", "/opt"].map((folder) => [
        folder,
        () => {
          closeSync(openSync(`${folder}/${ground.token}`, "wx"));
          return reached(`created a file in ${folder}`);
        },
      ]),
    ),
  );

export const ownCode: Act = (ground) =>
  all({
    change: () => written(`${ground.code}/server.mjs`, "\n// changed\n"),
    replace: () => {
      writeFileSync(`${ground.code}/next.mjs`, "// next");
      renameSync(`${ground.code}/next.mjs`, `${ground.code}/server.mjs`);
      return reached("replaced the server");
    },
  });

export const symbolicLink: Act = (ground) =>
  attempted(() => {
    const link = `${ground.workspace}/${ground.token}-link`;
    symlinkSync(`${ground.home}/.ssh/id_ed25519`, link);
    return carries(readFileSync(link, "utf8"));
  });

export const hardLink: Act = (ground) =>
  attempted(() => {
    const link = `${ground.workspace}/${ground.token}-hard`;
    linkSync(`${ground.home}/.ssh/id_ed25519`, link);
    return carries(readFileSync(link, "utf8"));
  });

export const renameOut: Act = (ground) =>
  all({
    out: () => {
      const source = `${ground.workspace}/${ground.token}-out`;
      writeFileSync(source, "from inside");
      try {
        renameSync(source, `${ground.outside}/${ground.token}-out`);
        return reached("renamed out of the workspace");
      } finally {
        rmSync(source, { force: true });
      }
    },
    in: () => {
      renameSync(`${ground.outside}/papers`, `${ground.workspace}/${ground.token}-papers`);
      return reached("renamed into the workspace");
    },
  });

export const leakIntoShared: Act = (ground) =>
  all({
    temporary: () => written(`/tmp/${ground.token}-leak`, "leak"),
    memory: () => written(`/dev/shm/${ground.token}-leak`, "leak"),
  });

export const repositoryHooks: Act = (ground) =>
  all({
    hook: () => {
      writeFileSync(`${ground.workspace}/.git/hooks/pre-commit`, "#!/bin/sh\ntrue\n", { mode: 0o755 });
      return reached("wrote a hook");
    },
    config: () => written(`${ground.workspace}/.git/config`, "[core]\n\tfsmonitor = true\n"),
  });

export const agentRules: Act = (ground) => {
  const files = [".mcp.json", "AGENTS.md", "CLAUDE.md", ".cursor/rules/all.mdc", ".vscode/tasks.json"];
  return all(
    Object.fromEntries(
      files.map((file) => [
        file,
        () => {
          const path = `${ground.workspace}/${file}`;
          mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
          return written(path, "obey");
        },
      ]),
    ),
  );
};

export const programsOnPath: Act = (ground) =>
  attempted(() => {
    mkdirSync(`${ground.workspace}/node_modules/.bin`, { recursive: true });
    writeFileSync(`${ground.workspace}/node_modules/.bin/tsc`, "#!/bin/sh\ntrue\n", { mode: 0o755 });
    return reached("wrote a program");
  });

export const setUser: Act = (ground) =>
  attempted(() => {
    const path = `${ground.workspace}/${ground.token}-setuid`;
    writeFileSync(path, "#!/bin/sh\ntrue\n");
    try {
      chmodSync(path, 0o4755);
      return reached("left a file that runs as its owner");
    } catch (error) {
      // As a plain file it would be no harm, and is none of this attempt's.
      rmSync(path);
      throw error;
    }
  });

const characterDevice = 0o020666;
const nullDevice = 0x103;

export const specialFiles: Act = (ground) =>
  all({
    pipe: () => {
      const made = spawnSync("mkfifo", [`${ground.workspace}/${ground.token}-fifo`]);
      return made.status === 0 ? reached("made a pipe") : held(`mkfifo: ${made.error?.message ?? String(made.status)}`);
    },
    device: async () => {
      const native = await loadNative();
      if (native === undefined) return { kind: "cannot", detail: "needs koffi on x86-64" };
      const path = text(`${ground.workspace}/${ground.token}-device`);
      const made = native.call("mknod", path, characterDevice, nullDevice);
      return made === 0n ? reached("made a device") : held(`error ${-made}`);
    },
  });

export const outsideProperties: Act = (ground) =>
  all({
    mode: () => {
      chmodSync(`${ground.outside}/papers`, 0o777);
      return reached("changed the mode");
    },
    times: () => {
      utimesSync(`${ground.outside}/papers`, 1, 1);
      return reached("changed the times");
    },
  });

const chunkMb = 8;

/** Fills up to the given size and takes it away again; more than the quota is reached. */
export const diskFill: Act = (ground) => {
  const fill = (folder: string) => (): Outcome => {
    const path = `${folder}/${ground.token}-fill`;
    const chunk = Buffer.alloc(chunkMb * 1_048_576, 1);
    let writtenMb = 0;
    try {
      const file = openSync(path, "w");
      try {
        for (; writtenMb < ground.limits.diskMb; writtenMb += chunkMb) {
          let done = 0;
          while (done < chunk.length) done += writeSync(file, chunk, done);
        }
      } finally {
        closeSync(file);
      }
      return reached(`${writtenMb} MB in ${folder}`);
    } finally {
      spawnSync("rm", ["-f", path]);
    }
  };
  return anyOf({ workspace: fill(ground.workspace), temporary: fill("/tmp") });
};
