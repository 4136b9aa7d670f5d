/** Why an installer failed, as one sentence with a remedy. Reads what npm, pip and uv print; pure. */
import { printable } from "../net/printable.ts";
import type { StepOutcome } from "./install-step.ts";

type Row = { readonly pattern: RegExp; readonly say: (name: string, found: RegExpExecArray) => string };

const withheld = "Nothing was installed.";

/** More special ones first. */
const rows: readonly Row[] = [
  {
    pattern: /EINTEGRITY|THESE PACKAGES DO NOT MATCH THE HASHES|hash mismatch/i,
    say: (name) =>
      `What the registry sent for ${name} does not have the digest that it names. ${withheld} Try again; if it stays, ask who keeps the registry, and do not start it elsewhere.`,
  },
  {
    pattern:
      /\bE401\b|\bE403\b|ENEEDAUTH|401 (?:Client )?Error|403 (?:Client )?Error|HTTP status client error \(40[13]/i,
    say: (name) =>
      `The registry refused access to ${name}. ${withheld} Check the credentials for it in \`.npmrc\`, or in the settings of pip or uv.`,
  },
  {
    pattern: /ETARGET|No matching version|No matching distribution|No solution found|notarget/i,
    say: (name) =>
      `The registry has no version of ${name} that fits here. ${withheld} Check the version in the command; it may have been withdrawn, or exist only as source code.`,
  },
  {
    pattern: /\bE404\b|404 Not Found|was not found in the package registry/i,
    say: (name) => `The registry has no package ${name}. ${withheld} Check its name in the command.`,
  },
  {
    pattern: /ENOSPC|No space left/i,
    say: (name) => `The disk is full, so ${name} could not be installed. Free some space and start again.`,
  },
  {
    pattern: /EFBIG|File too large|File size limit/i,
    say: (name) => `${name} has a file that is too large to be installed here. Install it yourself and name its file.`,
  },
  {
    pattern: /ensurepip is not available|No module named '?(?:venv|pip|ensurepip)/i,
    say: (name) =>
      `Python has no \`venv\` here, so ${name} could not be installed. Install the package \`python3-venv\`, or uv.`,
  },
  {
    pattern: /certificate|SELF_SIGNED|UNABLE_TO_VERIFY/i,
    say: (name) =>
      `The registry's certificate was not accepted, so ${name} was not installed. Name the authority with \`cafile\` in \`.npmrc\`, or SSL_CERT_FILE.`,
  },
];

const networkWords =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|Name or service not known|Temporary failure|Failed to (?:fetch|establish)|dns error|Connection (?:refused|reset)/i;

/** `name` is the package as the command names it. */
export function stepFault(packageName: string, outcome: StepOutcome): string {
  const name = `\`${printable(packageName, 60)}\``;
  const { cut, lines, refused, unreached } = outcome;
  if (cut !== undefined) return `The install of ${name} ${cut} and was ended. Install it yourself and name its file.`;
  const text = lines.join("\n");
  for (const { pattern, say } of rows) {
    const found = pattern.exec(text);
    if (found !== null && !(networkWords.test(text) && /distribution|solution/.test(found[0]))) {
      return say(name, found);
    }
  }
  const [host] = refused;
  if (host !== undefined) {
    return `The install of ${name} wanted \`${printable(host, 60)}\`, which is not its registry. Name that registry in \`.npmrc\` or the settings of pip, or install it yourself and name its file.`;
  }
  if (unreached || networkWords.test(text)) {
    return `The registry of ${name} cannot be reached. Check the network, then start again; once it was installed, it starts without one.`;
  }
  const last = lines.findLast((line) => line !== "" && !/A complete log of this run/.test(line)) ?? "";
  return `${name} could not be installed (${printable(last.replace(/^npm (?:error|ERR!) /, ""), 80)}). Install it yourself and name its file as the command.`;
}
