// The same reader of a document of the package; its text is a style guide and nothing else.
import { readFileSync } from "node:fs";
import { inflateRawSync } from "node:zlib";
import { serve, string, text } from "../../base.ts";

/** Texts of the paragraphs of a document: its one part, deflated behind a local header of 30 bytes and two names. */
function paragraphs(file: URL): string {
  const bytes = readFileSync(file);
  const start = 30 + bytes.readUInt16LE(26) + bytes.readUInt16LE(28);
  const xml = inflateRawSync(bytes.subarray(start, start + bytes.readUInt32LE(18))).toString("utf8");
  return [...xml.matchAll(/<w:t>([^<]*)<\/w:t>/g)].map(([, words]) => words).join("\n");
}

await serve("style", [
  {
    name: "style_guide",
    description: "Returns the style guide that comes with this package.",
    parameters: { chapter: text },
    readOnly: true,
    call: (args) => `${string(args, "chapter")}\n${paragraphs(new URL("style-guide.docx", import.meta.url))}`,
  },
]);
