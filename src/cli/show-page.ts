/** Shows a page of this machine to the user: prints its address, and opens it where there is a desktop. */
import { spawn } from "node:child_process";

/** The program that opens an address; undefined where no desktop can be reached. */
function opener(): string | undefined {
  if (process.platform === "darwin") return "open";
  const { DISPLAY = "", WAYLAND_DISPLAY = "" } = process.env;
  return DISPLAY + WAYLAND_DISPLAY === "" ? undefined : "xdg-open";
}

export function showPage(url: string): void {
  process.stderr.write(`Open this page in your browser, and touch your key there:\n  ${url}\n`);
  const program = process.stderr.isTTY ? opener() : undefined;
  if (program === undefined) return;
  const started = spawn(program, [url], { stdio: "ignore", detached: true });
  started.on("error", () => undefined); // the address is printed, so it can be opened by hand
  started.unref();
}
