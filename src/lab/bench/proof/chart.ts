/** Growth of proof costs as a drawing: one panel for each thing that grows. Self-contained SVG, no script. */
import type { ProofRow } from "./proof.ts";

const panelWidth = 260;
const panelHeight = 180;
const margin = { left: 48, right: 12, top: 28, bottom: 34 };

export function proofChart(rows: readonly ProofRow[]): string {
  const kinds = ["tools", "rules", "categories", "debts"] as const;
  const panels = kinds.map((kind, index) => {
    const own = rows.filter((row) => row.grows === kind);
    const points = own.map((row) => ({ x: row.size[kind], y: row.cpuMs }));
    return panel(kind, points, index);
  });
  const width = 2 * panelWidth;
  const height = 2 * panelHeight;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="10">`,
    `<rect width="${width}" height="${height}" fill="white"/>`,
    ...panels,
    "</svg>",
    "",
  ].join("\n");
}

type Point = { readonly x: number; readonly y: number };

function panel(title: string, points: readonly Point[], index: number): string {
  const left = (index % 2) * panelWidth;
  const top = Math.floor(index / 2) * panelHeight;
  const xMax = Math.max(1, ...points.map((point) => point.x));
  const yMax = Math.max(1, ...points.map((point) => point.y));
  const inner = { width: panelWidth - margin.left - margin.right, height: panelHeight - margin.top - margin.bottom };
  const x = (value: number): number => round(left + margin.left + (value / xMax) * inner.width);
  const y = (value: number): number => round(top + margin.top + inner.height - (value / yMax) * inner.height);
  const path = points.map((point, at) => `${at === 0 ? "M" : "L"}${x(point.x)} ${y(point.y)}`).join(" ");
  return [
    `<text x="${left + margin.left}" y="${top + 16}" font-size="12">CPU ms by ${title}</text>`,
    `<path d="M${x(0)} ${y(yMax)}V${y(0)}H${x(xMax)}" fill="none" stroke="#888"/>`,
    `<text x="${x(0) - 4}" y="${y(yMax) + 4}" text-anchor="end">${yMax}</text>`,
    `<text x="${x(0) - 4}" y="${y(0)}" text-anchor="end">0</text>`,
    ...points.map((point) => `<text x="${x(point.x)}" y="${y(0) + 14}" text-anchor="middle">${point.x}</text>`),
    `<path d="${path}" fill="none" stroke="#06c" stroke-width="1.5"/>`,
    ...points.map((point) => `<circle cx="${x(point.x)}" cy="${y(point.y)}" r="2.5" fill="#06c"/>`),
  ].join("\n");
}

const round = (value: number): number => Math.round(value * 10) / 10;
