#!/usr/bin/env node
// Plain old JavaScript on purpose: this file must be readable by whatever Node the user has, to say what is missing.
import { spawn } from "child_process";
import { existsSync, mkdirSync, realpathSync } from "fs";
import module from "module";
import { constants, homedir } from "os";
import { dirname, join } from "path";
import { fileURLToPath, pathToFileURL } from "url";

const nodeMajorMin = 24;
const entry = fileURLToPath(import.meta.url);
const root = dirname(dirname(entry));

if (Number(process.versions.node.split(".")[0]) >= nodeMajorMin) {
  start();
} else {
  restart();
}

/** Runs the command line: built files where they exist, in a checkout the sources by type stripping. */
function start() {
  // Compiled code is kept in the user's own state folder. Node's default, a folder in the shared temporary directory,
  // could be filled by somebody else before us, and what lies there is executed.
  const state =
    process.env.SLUICEGATE_HOME || join(process.env.XDG_STATE_HOME || join(homedir(), ".local", "state"), "sluicegate");
  const cache = join(state, "compile-cache");
  if (module.enableCompileCache && made(cache, 0o700)) module.enableCompileCache(cache);
  // Written soon, not at exit: a daemon lives long, a shim is often killed, and the next one should start warm.
  if (module.flushCompileCache) setTimeout(module.flushCompileCache, 1000).unref();
  const built = join(root, "dist", "cli", "entry.js");
  const main = existsSync(built) ? built : join(root, "src", "cli", "entry.ts");
  import(pathToFileURL(main).href)
    .then(function (loaded) {
      return loaded.dispatch(process.argv.slice(2), entry);
    })
    .then(
      function (exitCode) {
        process.exit(exitCode);
      },
      function (error) {
        const shown = process.env.SLUICEGATE_DEBUG ? error && error.stack : String(error && error.message);
        process.stderr.write(
          "sluicegate: this is a bug of Sluicegate: " + shown + ". Set SLUICEGATE_DEBUG=1 for more.\n",
        );
        process.exit(2);
      },
    );
}

/**
 * Whether the folder is there now; keys and logs will lie beside it. One level at a time: Node's own recursive form, which it
 * would use for its cache, never returns where the system answers ENOENT, as in /proc.
 */
function made(folder, mode) {
  try {
    if (existsSync(folder)) return true;
    const parent = dirname(folder);
    if (parent !== folder && !made(parent, mode)) return false;
    mkdirSync(folder, { mode });
    return true;
  } catch {
    // Another of us may have made it meanwhile.
    return existsSync(folder);
  }
}

/** Runs this very file again on a Node that is new enough, as if it had been started there. */
function restart() {
  const node = newerNode();
  if (node === undefined) {
    process.stderr.write(
      "sluicegate: needs Node " +
        nodeMajorMin +
        " or newer, this is " +
        process.versions.node +
        ". Install one, or set SLUICEGATE_NODE to the path of one.\n",
    );
    process.exit(2);
  }
  const child = spawn(node, [entry].concat(process.argv.slice(2)), { stdio: "inherit" });
  ["SIGINT", "SIGTERM", "SIGHUP"].forEach(function (name) {
    process.on(name, function () {
      child.kill(name);
    });
  });
  child.on("error", function (error) {
    process.stderr.write("sluicegate: " + node + " cannot be run (" + error.code + "): check SLUICEGATE_NODE.\n");
    process.exit(2);
  });
  child.on("exit", function (code, signal) {
    process.exit(code === null ? 128 + (constants.signals[signal] || 0) : code);
  });
}

/** `SLUICEGATE_NODE`, else the npm package `node` beside this package or among its own dependencies. */
function newerNode() {
  const named = process.env.SLUICEGATE_NODE;
  if (named) return isThisNode(named) ? undefined : named;
  const candidates = [join(root, "node_modules"), dirname(root)];
  for (let index = 0; index < candidates.length; index += 1) {
    const file = join(candidates[index], "node", "bin", process.platform === "win32" ? "node.exe" : "node");
    if (existsSync(file) && !isThisNode(file)) return file;
  }
  return undefined;
}

/** A Node that is this one would start itself for ever. */
function isThisNode(file) {
  try {
    return realpathSync(file) === realpathSync(process.execPath);
  } catch {
    return false;
  }
}
