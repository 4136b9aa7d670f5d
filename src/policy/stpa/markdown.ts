/** A report as Markdown. Every text in it came from a file, so nothing of it may become markup. */
import type { Cell, StpaReport, Table } from "./report.ts";
import { visibleText } from "./report.ts";

export function markdownReport(report: StpaReport): string {
  const parts = [
    `# ${escaped(report.title)}`,
    report.summary.map((line) => `- ${escaped(line)}`).join("\n"),
    ...report.tables.map(tableText),
  ];
  return `${parts.join("\n\n")}\n`;
}

function tableText({ title, says, head, rows }: Table): string {
  const parts = [`## ${escaped(title)}`];
  if (says !== "") parts.push(escaped(says));
  if (rows.length > 0) {
    const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
    parts.push(
      [line(head.map(escaped)), line(head.map(() => "---")), ...rows.map((row) => line(row.map(cellText)))].join("\n"),
    );
  }
  return parts.join("\n\n");
}

function cellText({ text, mark }: Cell): string {
  const plain = escaped(text);
  if (mark === "gap") return `**${plain}**`;
  return mark === "chosen" ? `${plain} (chosen)` : plain;
}

/**
 * ASCII punctuation can all be escaped with a backslash (CommonMark 2.4); this leaves alone what cannot start markup
 * within a line. Addresses are escaped too, since many readers turn even a bare one into a link.
 */
function escaped(text: string): string {
  return visibleText(text)
    .replace(/[\\`*_{}[\]<>#|~!&$@]/g, "\\$&")
    .replace(/\b(https?|ftp|mailto):/gi, "$1\\:")
    .replace(/\bwww\./gi, "www\\.")
    .trim();
}
