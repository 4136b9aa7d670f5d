import { expect, test } from "vitest";
import { held } from "../../oracles/foresight/embedded/held.ts";
import { catalogueBytesMax, foldCount, parseCatalogue } from "./catalogue.ts";
import { shippedTable } from "./shipped-table.ts";

const family = "@family mail fold 1 holds private,untrusted servers mail,post\n";
const why = (text: string): string => {
  const parsed = parseCatalogue(text);
  return parsed.ok ? "accepted" : parsed.error;
};

test("a family and its tools", () => {
  const parsed = parseCatalogue(
    `# words\n${family}read_mail,open_mail | read.external | id:id | store\n!stop | write.external.config | - | -\n`,
  );
  expect(parsed).toMatchObject({
    ok: true,
    value: [
      {
        name: "mail",
        fold: 1,
        holds: held.private | held.untrusted,
        servers: ["mail", "post"],
        tools: [
          {
            names: ["read_mail", "open_mail"],
            arguments: [{ name: "id", role: "id" }],
            brings: undefined,
            closes: false,
          },
          { names: ["stop"], arguments: [], brings: 0, closes: true },
        ],
      },
    ],
  });
});

test("a wrong line is named", () => {
  for (const line of [
    "read | read.external | id:id",
    "read | reads | - | -",
    "read | read.external | id:wish | -",
    "read | read.external | - | odd",
    "read | read.external | - | - | -",
  ])
    expect(why(family + line), line).toContain("line 2");
  expect(why("read | read.external | - | -")).toContain("line 1");
  expect(why("@family mail fold 9 holds private servers a")).toContain("opens no family");
  expect(why("@family mail fold 1 holds odd servers a")).toContain("opens no family");
  expect(why("#".repeat(catalogueBytesMax + 1))).toContain("longer than");
});

test("the shipped table has families enough, and every fold something to lose and ways to lose it", () => {
  const table = shippedTable();
  if (!table.ok) throw new Error(table.error);
  const { families } = table.value;
  const tools = families.flatMap((one) => one.tools);
  expect(families.length).toBeGreaterThanOrEqual(14);
  expect(tools.length).toBeGreaterThanOrEqual(200);
  const names = families.flatMap((one) => one.tools.flatMap((tool) => tool.names.map((name) => `${one.name}.${name}`)));
  expect(new Set(names).size).toBe(names.length);
  for (let fold = 1; fold <= foldCount; fold += 1) {
    const members = families.filter((one) => one.fold === fold);
    const brings = members.flatMap(({ holds, tools: own }) => own.map((tool) => tool.brings ?? holds));
    for (const bit of Object.values(held))
      expect(
        brings.some((one) => (one & bit) !== 0),
        `fold ${fold}`,
      ).toBe(true);
    const effects = members.flatMap(({ tools: own }) => own.flatMap((tool) => tool.effects)).join(" ");
    for (const word of ["send", "share", "delete", "credential"]) expect(effects, `fold ${fold}`).toContain(word);
  }
});
