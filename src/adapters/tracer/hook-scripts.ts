/**
 * Hooks that a runtime loads into the server's own process, where no stronger tracer is available. They see the acts of
 * cooperative code through the runtime; native code, other programs and a malicious server can bypass them. Plain text,
 * because they run in the server's runtime and not in ours.
 *
 * Each act is one line of JSON, appended in one write, so that lines of several processes do not mix.
 */

/** Name of the variable that tells a hook where to write; child processes inherit it with the hook. */
export const hookFileVariable = "SLUICEGATE_HOOK_FILE";

/** Subscribes to what `--permission-audit` publishes, and to connections, which it does not cover. */
export const nodeHook = `// Evidence for Sluicegate: what this process does through its runtime.
import { subscribe } from "node:diagnostics_channel";
import { openSync, writeSync } from "node:fs";
import { resolve } from "node:path";

let descriptor;
try {
  descriptor = openSync(process.env.${hookFileVariable} ?? "", "a");
} catch {
  descriptor = undefined;
}
const tell = (act) => {
  if (descriptor === undefined) return;
  try {
    writeSync(descriptor, JSON.stringify({ process: process.pid, ...act }) + "\\n");
  } catch {
    descriptor = undefined;
  }
};
const text = (value) => String(value ?? "").slice(0, 1024);
const actions = { FileSystemRead: "file-read", FileSystemWrite: "file-write" };
subscribe("node:permission-model:fs", ({ permission, resource }) => {
  const action = actions[permission];
  if (action !== undefined && resource) tell({ action, path: text(resolve(String(resource))) });
});
subscribe("node:permission-model:child", ({ resource }) => {
  tell({ action: "process-spawn", program: text(resource) });
});
subscribe("net.client.socket", ({ socket }) => {
  socket?.on?.("connectionAttempt", (address, port) => {
    tell({ action: "net-connect", address: text(address), port, transport: "tcp" });
  });
});
`;

/**
 * Audit events of Python (PEP 578). Found as `sitecustomize`, so another one that the server had is run as well.
 */
export const pythonHook = `# Evidence for Sluicegate: what this process does through its runtime.
import os, sys


def _start():
    import json

    try:
        descriptor = os.open(os.environ["${hookFileVariable}"], os.O_WRONLY | os.O_APPEND)
    except Exception:
        return
    own = os.fspath(os.path.dirname(os.path.abspath(__file__)))

    def tell(action, **rest):
        rest["action"] = action
        rest["process"] = os.getpid()
        os.write(descriptor, (json.dumps(rest) + "\\n").encode("ascii"))

    def text(value):
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        return str(value)[:1024]

    def path(value):
        return text(os.path.abspath(os.fsdecode(value)))

    def address(place):
        if isinstance(place, tuple) and len(place) >= 2:
            return {"address": text(place[0]), "port": place[1], "transport": "tcp"}
        return {"path": text(place), "transport": "unix"}

    def on_open(name, mode, flags):
        if isinstance(name, int):
            return
        writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        tell("file-write" if writes else "file-read", path=path(name))

    def words(args):
        return text(" ".join(text(one) for one in args)) if isinstance(args, (list, tuple)) else text(args)

    changes = {
        "os.remove": "file-delete",
        "os.rmdir": "file-delete",
        "os.mkdir": "file-create",
        "os.chmod": "file-permissions",
        "os.chown": "file-permissions",
        "os.utime": "file-permissions",
        "os.truncate": "file-write",
    }
    busy = []

    def hook(event, args):
        if busy:
            return
        busy.append(event)
        try:
            if event == "open":
                on_open(*args)
            elif event in changes and not isinstance(args[0], int):
                tell(changes[event], path=path(args[0]), detail=event)
            elif event == "os.rename":
                tell("file-rename", path=path(args[0]), target=path(args[1]))
            elif event in ("os.link", "os.symlink"):
                tell("file-link", path=path(args[1]), target=text(args[0]), detail=event)
            elif event == "socket.connect":
                tell("net-connect", **address(args[1]))
            elif event == "socket.sendto":
                tell("net-send", **address(args[1]))
            elif event == "socket.bind":
                tell("net-listen", **address(args[1]))
            elif event == "socket.getaddrinfo" and args[0]:
                tell("dns-query", domain=text(args[0]))
            elif event == "subprocess.Popen":
                tell("process-spawn", program=text(args[0]), commandLine=words(args[1]))
            elif event in ("os.exec", "os.posix_spawn"):
                tell("process-spawn", program=text(args[0]), commandLine=words(args[1]))
            elif event == "os.system":
                tell("process-spawn", program="/bin/sh", commandLine=words(args[0]))
            elif event == "os.kill":
                tell("process-signal", detail="signal %s to %s" % (args[1], args[0]))
        except Exception:
            pass
        finally:
            busy.pop()

    sys.addaudithook(hook)
    # Another module of this name, further along the path, is the server's and runs as it would have.
    import importlib.machinery

    rest = [one for one in sys.path if os.path.abspath(one or ".") != own]
    found = importlib.machinery.PathFinder.find_spec("sitecustomize", rest)
    if found is not None and found.loader is not None:
        import importlib.util

        found.loader.exec_module(importlib.util.module_from_spec(found))


_start()
`;
