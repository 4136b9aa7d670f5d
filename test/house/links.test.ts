// Links of the documents that travel with the package lead to files of the package, and to headings that are there.
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const packed = (JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly files: readonly string[] })
  .files;
const documents = packed.flatMap((name) =>
  name.endsWith(".md") ? [name] : globSync(`${name}/**/*.md`, { cwd: root }),
);

const words = (text: string): string => text.replaceAll(/```[\s\S]*?```/g, "");
const headings = (file: string): readonly string[] =>
  [...words(readFileSync(file, "utf8")).matchAll(/^#+ (.*)$/gm)].map((found) =>
    (found[1] ?? "")
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .trim()
      .replaceAll(" ", "-"),
  );

function fault(document: string, link: string): string | undefined {
  const [place = "", heading] = link.split("#");
  const target = place === "" ? join(root, document) : resolve(root, dirname(document), place);
  const inside = relative(root, target).split("/")[0] ?? "";
  if (!existsSync(target)) return `${document}: ${link} is not there`;
  if (!packed.includes(inside)) return `${document}: ${link} does not travel with the package`;
  const isText = statSync(target).isFile() && target.endsWith(".md");
  return heading !== undefined && isText && !headings(target).includes(heading)
    ? `${document}: ${link} has no such heading`
    : undefined;
}

it("C24: every relative link of a packed document resolves within the package", () => {
  expect(documents.length).toBeGreaterThan(30);
  const faults = documents.flatMap((document) => {
    const links = [...words(readFileSync(join(root, document), "utf8")).matchAll(/\]\(([^)\s]+)\)/g)];
    return links.flatMap(([, link = ""]) => (/^[a-z]+:/.test(link) ? [] : (fault(document, link) ?? [])));
  });
  expect(faults).toEqual([]);
});
