/**
 * A report as one HTML page: no script, nothing loaded from elsewhere, readable in light and dark, on paper too. Every
 * text in it came from a file, so each one passes `escaped`, and the page forbids itself whatever it does not need.
 */
import { type Cell, type StpaReport, type Table, visibleText } from "./report.ts";

const style = `
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --line: #c9d1d9; --head: #f2f4f7; --gap: #b42318;
  --good: #1a7f37; --chosen: #0b5cad }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --line: #3d444d; --head: #161b22;
  --gap: #ff7b72; --good: #56d364; --chosen: #79c0ff } }
body { margin: 0 auto; padding: 1.5rem; max-width: 84rem; color: var(--ink); background: var(--paper);
  font: 1rem/1.5 system-ui, sans-serif }
h1 { font-size: 1.6rem } h2 { margin-top: 2.2rem; font-size: 1.2rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-size: .92rem }
th, td { border: 1px solid var(--line); padding: .35rem .55rem; text-align: left; vertical-align: top;
  overflow-wrap: anywhere }
th { background: var(--head) }
.gap { color: var(--gap); font-weight: 600 } .good { color: var(--good); font-weight: 600 }
.chosen { color: var(--chosen); font-weight: 600 }
@media print { :root { --ink: #000; --paper: #fff; --line: #999; --head: #eee; --gap: #b42318; --good: #1a7f37;
  --chosen: #0b5cad } body { max-width: none; padding: 0; font-size: 9pt } .wide { overflow: visible }
  thead { display: table-header-group } tr { break-inside: avoid } h2 { break-after: avoid } }
`;

export function htmlReport(report: StpaReport): string {
  const title = escaped(report.title);
  const lines = report.summary.map((line) => `<li>${escaped(line)}</li>`).join("\n");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<h1>${title}</h1>
<ul>
${lines}
</ul>
${report.tables.map(tableText).join("\n")}
</body>
</html>
`;
}

function tableText({ title, says, head, rows }: Table): string {
  const intro = says === "" ? "" : `<p>${escaped(says)}</p>\n`;
  if (rows.length === 0) return `<h2>${escaped(title)}</h2>\n${intro}`;
  const cells = head.map((word) => `<th scope="col">${escaped(word)}</th>`).join("");
  const body = rows.map((row) => `<tr>${row.map(cellText).join("")}</tr>`).join("\n");
  return `<h2>${escaped(title)}</h2>
${intro}<div class="wide"><table>
<thead><tr>${cells}</tr></thead>
<tbody>
${body}
</tbody>
</table></div>`;
}

/** A mark is a word as well as a colour, for readers that do not see it and for paper. */
function cellText({ text, mark }: Cell): string {
  const plain = escaped(text);
  if (mark === undefined) return `<td>${plain}</td>`;
  return `<td class="${mark}">${mark === "chosen" ? `${plain} (chosen)` : plain}</td>`;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return visibleText(text).replace(/[&<>"']/g, (char) => entities[char] ?? "");
}
