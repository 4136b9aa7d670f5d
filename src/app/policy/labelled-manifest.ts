/** Lists of tools with the labels that their author may ship: what is declared stays, what is read with certainty is added. */
import { type JsonObject, isObject, member } from "../../core/json.ts";
import { certainLabel, readTools } from "../../oracles/labels/reading.ts";
import { metaDomain } from "../../policy/contracts/carriers.ts";
import type { ToolLists } from "../../policy/contracts/contracts.ts";

export type LabelledManifest = {
  /** `{tools}` of one server, else `{servers: {NAME: {tools}}}`. */
  readonly manifest: object;
  /** What is in doubt and therefore not written. */
  readonly doubts: readonly {
    readonly server: string;
    readonly tool: string;
    readonly about: string;
    readonly why: string;
  }[];
};

export function labelledManifest(lists: ToolLists): LabelledManifest {
  const doubts: { server: string; tool: string; about: string; why: string }[] = [];
  const labelled = Object.entries(lists).map(([server, listed]) => {
    const tools = readTools({ server, tools: listed }).map((reading, index) => {
      const tool = listed[index] ?? {};
      const meta = member(tool, "_meta");
      const key = `${metaDomain}/labels`;
      if (member(meta, key) !== undefined) return tool;
      doubts.push(...reading.doubts.map(({ about, why }) => ({ server, tool: reading.tool, about, why })));
      return withMeta(tool, { ...(isObject(meta) ? meta : {}), [key]: { version: 1, ...certainLabel(reading) } });
    });
    return [server, { tools }] as const;
  });
  const [only] = labelled;
  const manifest = labelled.length === 1 && only !== undefined ? only[1] : { servers: Object.fromEntries(labelled) };
  return { manifest, doubts };
}

function withMeta(tool: JsonObject, meta: object): object {
  return { ...tool, _meta: meta };
}
