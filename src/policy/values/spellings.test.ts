import { expect, it } from "vitest";
import { cpuMsOf } from "../../../test/kit/policy/cpu-time.ts";
import type { Json } from "../../core/json.ts";
import { evaluateTest } from "../semantics/argument-tests.ts";
import { testForm } from "../document/label-forms.ts";
import { compileTest } from "../compile/tests.ts";
import type { TestText } from "../document/shapes-labels.ts";

function holds(text: TestText, polarity: "restrict" | "permit", value: Json): boolean {
  const compiled = compileTest(testForm(text), polarity, [], () => expect.fail("the test does not compile"));
  return evaluateTest(compiled, value);
}

it.each<[TestText, Json, boolean]>([
  // `://` in the middle made a path pass for a URL, which is not normalised.
  [{ glob: "/srv/**" }, "/srv/x://../../etc/passwd", false],
  [{ glob: "/srv/**" }, "/srv/x://y", true],
  [{ glob: "srv**" }, "srv/../../etc/passwd", false],
  [{ glob: "https://example.com/public/**" }, "https://example.com/public/../admin", false],
  [{ glob: "https://example.com/public/**" }, "https://example.com/public/%2e%2e/admin", false],
  [{ glob: "https://example.com/public/**" }, "https://example.com/public/a", true],
  [{ glob: "https://*.example.com/**" }, "https://evil.org?.example.com/x", false],
  [{ glob: "https://*.example.com/**" }, "https://evil.org\\.example.com/x", false],
  [{ glob: "https://*.example.com/**" }, "https://evil.org#.example.com/x", false],
  [{ glob: "https://*.example.com/**" }, "https://a.example.com/x", true],
  [{ glob: "https://example.com" }, "https://example.com", true],
  [{ glob: "file:///w/**" }, "file:///w/a", true],
  [{ glob: "file:///w/**" }, "file:///w/../etc/passwd", false],
  [{ glob: "**" }, "any\ntext/../with lines", true],
  [{ path: "/w" }, "~/x", false],
  [{ domain: "good.example" }, "evil.example/@good.example", false],
  [{ domain: "good.example" }, "evil.example?@good.example", false],
  [{ domain: "good.example" }, "evil.example#@good.example", false],
  [{ domain: "good.example" }, "http://good.example\\@evil.example", false],
  [{ domain: "good.example" }, "https://good.exa\tmple/", false],
  [{ domain: "good.example" }, "a@evil.example, b@good.example", false],
  [{ domain: "good.example" }, "https://good.example/@x?a#b", true],
  [{ domain: "good.example" }, "bob@good.example", true],
  [{ cidr: "10.0.0.0/8" }, "http://10.0.0.1\\@evil.example", false],
  // Two mailboxes for whoever decodes the address.
  [{ domain: "good.example" }, "mailto:me%40evil.example%2Cyou@good.example", false],
  [{ domain: "good.example" }, "me%40evil.example%2Cyou@good.example", false],
  [{ domain: "good.example" }, "https://good.example/%61@x", true],
  // A backslash separates folders where the server runs on Windows.
  [{ glob: "report-*" }, "report-\\..\\..\\secret", false],
  [{ glob: "C:\\me\\*" }, "C:\\me\\..\\..\\secret", false],
  [{ glob: "C:\\me\\*" }, "C:\\me\\notes..txt", true],
  [{ glob: "/w/**" }, "/W/a", false],
])("permits %j for %j: %j", (text, value, expected) => {
  expect(holds(text, "permit", value)).toBe(expected);
});

it.each<[TestText, Json, boolean]>([
  [{ glob: "/etc/**" }, "file:///etc/passwd", true],
  [{ glob: "/etc/**" }, "FILE:/etc/passwd", true],
  [{ glob: "/etc/**" }, "file://elsewhere/etc/passwd", true],
  [{ glob: "/etc/**" }, "/tmp/x://../../etc/passwd", true],
  [{ glob: "/etc/**" }, "../../etc/passwd", true],
  [{ glob: "/etc/**" }, "..\\..\\etc\\passwd", true],
  [{ glob: "/etc/**" }, "notes.txt", false],
  [{ glob: "~/.ssh/**" }, "/home/me/.ssh/id", true],
  [{ glob: "~/.ssh/**" }, "/Users/me/.SSH/id", true],
  [{ glob: "/home/me/.ssh/**" }, "~/.ssh/id", true],
  [{ glob: "/home/me/.ssh/**" }, "/tmp/.ssh/id", false],
  [{ glob: "https://example.com/admin/**" }, "https://EXAMPLE.com/x/../admin/a", true],
  [{ path: "/etc" }, "/ETC/passwd", true],
  [{ path: "~/.ssh" }, "/root/.ssh/id", true],
  [{ path: "/home/me/.ssh" }, "~/.ssh/id", true],
  [{ path: "/home/me/.ssh" }, "~me/.ssh/id", true],
  [{ path: "/etc" }, "~/../../etc/passwd", true],
  [{ path: "/etc" }, "~/notes", false],
  [{ path: "/home/alice" }, "/home/bob/x", false],
  [{ range: { min: 100 } }, JSON.rawJSON("1e1200"), true],
  [{ range: { min: 100 } }, JSON.rawJSON("5"), false],
  [{ equals: [5] }, JSON.rawJSON(`5.${"0".repeat(2_400)}`), true],
  [{ equals: [5] }, "5", true],
  [{ equals: ["5"] }, 5, true],
  [{ equals: [5] }, "6", false],
  [{ domain: "evil.org" }, "evil.org/path", true],
  [{ domain: "evil.org" }, "https:\\\\evil.org\\x", true],
  [{ domain: "evil.org" }, "https:evil.org", true],
  [{ domain: "evil.org" }, "go to=evil.org?x", true],
  [{ domain: "evil.org" }, "notevil.org/path", false],
  [{ cidr: "127.0.0.0/8" }, "127.1", true],
  [{ cidr: "127.0.0.0/8" }, "0x7f000001:8080", true],
  [{ cidr: "127.0.0.0/8" }, "2130706433", true],
  [{ cidr: "127.0.0.0/8" }, "connect 127.0.0.1/x", true],
  [{ cidr: "127.0.0.0/8" }, "128.0.0.1", false],
  [{ cidr: "::1" }, "curl http://[::1]/ -v", true],
  [{ cidr: "fe80::/10" }, "10.0.0.1, fe80::5", true],
  ...[
    " https://evil.org/x",
    "https:/evil.org/x",
    "https:evil.org/x",
    "ht\ttps://evil.org/x",
    "https://me:secret@evil.org/x",
    "https://evil.org./x",
    "https://evil.org:443/%78?y",
    "https://evil.org//x#y",
    "https://evil.org/y/%2e%2e%2fx",
    "https://ｅvil。org/x",
  ].map((text): [TestText, Json, boolean] => [{ glob: "https://evil.org/x" }, text, true]),
  [{ glob: "https://evil.org" }, "https://evil.org/", true],
  [{ glob: "https://evil.org/x" }, "https://evil.org/y", false],
  [{ glob: "https://evil.org/x" }, "https:///", false],
  [{ domain: "evil.org" }, "me@ｅvil。org", true],
  [{ domain: "evil.org" }, "me＠evil.org", true],
  [{ domain: "evil.org" }, "e\u00advil.org", true],
  [{ domain: "evil.org" }, "see `evil%2Eorg`", true],
  [{ domain: "evil.org" }, "mailto:me%40evil.org%2Cyou@good.example", true],
  [{ domain: "evil.org" }, "évil.org", false],
  [{ path: "C:\\me\\.ssh" }, "\\\\?\\C:\\me\\.ssh\\id", true],
  [{ path: "C:\\me\\.ssh" }, "\\\\share\\x", false],
  // `..` takes away a name that has no normal form, and a path may be longer than what is normalised.
  [{ glob: "/etc/**" }, "/x\n/../etc/passwd", true],
  [{ glob: "/etc/**" }, " /etc/passwd", true],
  ...["caf\u00e9", "cafe\u0301"].flatMap((name): [TestText, Json, boolean][] => [
    [{ equals: "caf\u00e9" }, ` ${name}`, true],
    [{ equals: "cafe\u0301" }, name, true],
    [{ glob: "cafe\u0301*" }, ` ${name}s`, true],
    [{ glob: "/cafe\u0301/**" }, `/${name}/x`, true],
  ]),
  [{ glob: "/etc/**" }, `/x/..${"/.".repeat(5_000)}/etc/passwd`, true],
])("restricts %j for %j: %j", (text, value, expected) => {
  expect(holds(text, "restrict", value)).toBe(expected);
});

it("judges many pieces of many leaves in bounded time", () => {
  const leaves = Array.from({ length: 900 }, (_, index) => `1.${index} a.b `.repeat(2_000));
  const cpuMs = cpuMsOf(() => {
    expect(holds({ cidr: "10.0.0.0/8" }, "restrict", leaves)).toBe(true);
    expect(holds({ domain: "example.com" }, "restrict", leaves)).toBe(true);
    expect(holds({ domain: "example.com" }, "restrict", leaves.slice(0, 30))).toBe(false);
  });
  expect(cpuMs).toBeLessThan(6_000);
});

it("judges the host of a long text in linear time", () => {
  const cpuMs = cpuMsOf(() => {
    for (const long of ["/".repeat(100_000), "?@".repeat(50_000), "%".repeat(100_000)]) {
      expect(holds({ domain: "example.com" }, "permit", long)).toBe(false);
      expect(holds({ cidr: "10.0.0.0/8" }, "permit", long)).toBe(false);
    }
  });
  expect(cpuMs).toBeLessThan(2_000);
});
