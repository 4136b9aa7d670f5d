// The rooms inside of the layers: sizes, names, order, and no import circle, types included.
import { basename, dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { files, imports, targetOf } from "./imports.ts";

const filesInFolderMax = 25;
const foldersBelowSourceMax = 3;
const sameNameInLayerMax = 2;

/** Rooms by layer, from the ground up: a room imports from itself and from floors below its own, never from beside. */
const floors: Readonly<Record<string, readonly (readonly string[])[]>> = {
  gateway: [["ports"], ["log", "runs"], ["upstream"], ["decision"], ["consent"], ["lists"], ["calls"], ["session"]],
  policy: [
    ["values"],
    ["document"],
    ["ir"],
    ["sections"],
    ["canonical"],
    ["semantics"],
    ["isolation"],
    ["compile"],
    ["contracts"],
    ["lint"],
    ["stpa"],
  ],
};

type Arrow = { readonly from: string; readonly to: string };

const arrows: readonly Arrow[] = imports.flatMap((one) => {
  const to = targetOf(one);
  return to === undefined || to.startsWith("..") ? [] : [{ from: one.from, to }];
});

function counted(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

const roomOf = (file: string): string => dirname(file).split("/").slice(0, 2).join("/");

/** The import against the order of its layer's rooms, as a sentence; undefined where it follows the order. */
function upward({ from, to }: Arrow): string | undefined {
  const layer = from.split("/")[0] ?? "";
  const order = floors[layer];
  if (order === undefined || to.split("/")[0] !== layer || roomOf(from) === roomOf(to)) return undefined;
  const floorOf = (file: string): number =>
    order.findIndex((rooms) => rooms.includes(roomOf(file).split("/")[1] ?? ""));
  // Files at the root of a layer compose its rooms, so no room imports them.
  if (floorOf(from) < 0) return undefined;
  return floorOf(to) >= 0 && floorOf(to) < floorOf(from) ? undefined : `${from} imports ${to}`;
}

/** Groups of files that import each other in a circle (Tarjan's strongly connected components of two files or more). */
function circles(given: readonly Arrow[]): string[][] {
  const next = new Map<string, string[]>();
  for (const { from, to } of given) next.set(from, [...(next.get(from) ?? []), to]);
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (file: string): void => {
    order.set(file, order.size);
    low.set(file, order.get(file) ?? 0);
    stack.push(file);
    for (const to of next.get(file) ?? []) {
      if (!order.has(to)) visit(to);
      if (stack.includes(to)) low.set(file, Math.min(low.get(file) ?? 0, low.get(to) ?? 0));
    }
    if (low.get(file) !== order.get(file)) return;
    const group = stack.splice(stack.indexOf(file));
    if (group.length > 1) found.push(group.toSorted());
  };
  for (const file of next.keys()) if (!order.has(file)) visit(file);
  return found;
}

describe("rooms", () => {
  it("a folder holds few files", () => {
    const large = [...counted(files.map((file) => dirname(file)))].filter(([, count]) => count > filesInFolderMax);
    expect(large).toEqual([]);
  });

  it("folders are not deep", () => {
    expect(files.filter((file) => file.split("/").length - 1 > foldersBelowSourceMax)).toEqual([]);
  });

  it("a file name tells files of a layer apart", () => {
    const names = files.map((file) => `${file.split("/")[0]}: ${basename(file)}`);
    expect([...counted(names)].filter(([, count]) => count > sameNameInLayerMax)).toEqual([]);
  });

  it("every room of an ordered layer has its floor", () => {
    const rooms = new Set(files.filter((file) => file.split("/").length > 2).map(roomOf));
    const known = new Set(
      Object.entries(floors).flatMap(([layer, order]) => order.flat().map((room) => `${layer}/${room}`)),
    );
    expect([...rooms].filter((room) => (room.split("/")[0] ?? "") in floors && !known.has(room))).toEqual([]);
  });

  it("no room imports from its own floor or above", () => {
    expect(arrows.flatMap((arrow) => upward(arrow) ?? [])).toEqual([]);
    expect(upward({ from: "gateway/runs/x.ts", to: "gateway/session/gateway.ts" })).toContain("imports");
    expect(upward({ from: "gateway/runs/x.ts", to: "gateway/log/y.ts" })).toContain("imports");
    expect(upward({ from: "gateway/session/x.ts", to: "gateway/ports/y.ts" })).toBeUndefined();
  });

  it("no file imports itself by way of others, types included", () => {
    expect(circles(arrows)).toEqual([]);
    const circle = [
      { from: "a.ts", to: "b.ts" },
      { from: "b.ts", to: "c.ts" },
      { from: "c.ts", to: "a.ts" },
    ];
    expect(circles([...circle, { from: "d.ts", to: "a.ts" }])).toEqual([["a.ts", "b.ts", "c.ts"]]);
  });
});
