/** A fault of a policy, with its place and remedy. Part of the JSON of `policy check` (system.md 6). */

/** Where a document value stands: keys and indexes from the root. */
export type DocumentPath = readonly (string | number)[];

export type Severity = "error" | "warning" | "info";

/**
 * A finding without its place in a text: compiling works on canonical JSON, which has no lines.
 * `atKey` points at the key of the value instead of the value.
 */
export type Problem = {
  readonly code: string;
  readonly severity: Severity;
  readonly message: string;
  readonly remedy: string;
  readonly path: DocumentPath;
  readonly atKey?: true;
};

/** Takes each finding as it is made. */
export type Reporter = (problem: Problem) => void;

/** Lines and columns count from 1; both are 0 where a document was not read from text. */
export type Diagnostic = {
  readonly code: string;
  readonly severity: Severity;
  readonly message: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly remedy: string;
};

export function problem(code: string, path: DocumentPath, message: string, remedy: string): Problem {
  return { code: `SG-POLICY-${code}`, severity: "error", message: clipped(message), remedy: clipped(remedy), path };
}

export function warning(code: string, path: DocumentPath, message: string, remedy: string): Problem {
  return { ...problem(code, path, message, remedy), severity: "warning" };
}

export function information(code: string, path: DocumentPath, message: string, remedy: string): Problem {
  return { ...problem(code, path, message, remedy), severity: "info" };
}

export function hasErrors(findings: readonly { readonly severity: Severity }[]): boolean {
  return findings.some((finding) => finding.severity === "error");
}

/** User-facing sentences have at most 240 characters; what a hostile file wrote into one is cut. */
export function clipped(text: string): string {
  return text.length <= 240 ? text : `${text.slice(0, 237)}...`;
}

/** A value of a file as a message may quote it: short, on one line, without control or direction characters. */
export function quoted(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing");
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "?");
  return `\`${plain.length <= 60 ? plain : `${plain.slice(0, 57)}...`}\``;
}

/** `rules[2].when.effect` */
export function pathText(path: DocumentPath): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else text += text === "" ? part : `.${part}`;
  }
  return text === "" ? "the document" : text;
}
