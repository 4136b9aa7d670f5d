import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readConfig } from "../gateway/config.ts";
import { loadFrom } from "../policy/policy-source.ts";
import { textFile, whyUnwritten } from "./text-file.ts";

const folder = mkdtempSync(join(tmpdir(), "sg-text-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function saved(name: string, text: string, encoding: BufferEncoding): string {
  const file = join(folder, name);
  writeFileSync(file, Buffer.from(text, encoding));
  return file;
}

describe("a text of a person", () => {
  it("is read whole, without the mark at its beginning", () => {
    expect(textFile(saved("mark.yaml", "\ufeffversion: 1\r\n# \ufffd é\n", "utf8"), 100)).toEqual({
      ok: true,
      value: "version: 1\r\n# \ufffd é\n",
    });
  });

  it("says why it cannot be read", () => {
    const why = (file: string) => textFile(file, 100);
    expect(why(join(folder, "none"))).toEqual({ ok: false, error: { kind: "unread", why: "there is no such file" } });
    expect(why(folder)).toEqual({ ok: false, error: { kind: "unread", why: "it is a folder" } });
    expect(why(`${folder}\0`)).toMatchObject({ ok: false, error: { kind: "unread" } });
  });

  it("says in words what is wrong with a place", () => {
    const circle = join(folder, "circle");
    symlinkSync(circle, circle);
    expect(textFile(circle, 100)).toMatchObject({ error: { why: "its links lead in a circle" } });
    const unwritten = (...parts: readonly string[]): string => {
      try {
        writeFileSync(join(folder, ...parts), "x");
        return "";
      } catch (cause) {
        return whyUnwritten(cause);
      }
    };
    expect(unwritten()).toBe("it is a folder");
    expect(unwritten("none", "file")).toBe("there is no such folder");
    saved("file", "", "utf8");
    expect(unwritten("file", "file")).toBe("what should be a folder is a file");
    expect(whyUnwritten(Object.assign(new Error(), { code: "ENOSPC" }))).toBe("the disk is full");
    expect(whyUnwritten("?")).toBe("unknown");
  });

  it("has an end, also where a device has none", () => {
    expect(textFile("/dev/zero", 1_000_000)).toEqual({ ok: false, error: { kind: "large" } });
  });

  it("C21: is no pipe, which would keep its reader waiting for ever", () => {
    const pipe = join(folder, "pipe.yaml");
    execFileSync("mkfifo", [pipe]);
    symlinkSync(pipe, join(folder, "link.yaml"));
    for (const name of [pipe, join(folder, "link.yaml")]) {
      const error = { kind: "unread", why: "it is a pipe: write it into a file" };
      expect(textFile(name, 1_000)).toEqual({ ok: false, error });
      expect(loadFrom(name)).toMatchObject({ ok: false, error: expect.stringContaining("it is a pipe") });
    }
    expect(loadFrom(saved("extends.yaml", "version: 1\nextends: [pipe.yaml]\n", "utf8"))).toMatchObject({ ok: true });
    expect(readConfig(pipe)).toMatchObject({ ok: false, error: { code: "SG-CONFIG-READ" } });
  });
});

describe("a policy that is no UTF-8", () => {
  const rule = (word: string): string =>
    `version: 1\nrules:\n  - {id: A, tier: block, when: {tool: mail.send, arg: {body: ${word}}}, why: x}\n`;

  it("is refused with the place: its rule would match nothing", () => {
    const loaded = loadFrom(saved("latin.yaml", rule("café"), "latin1"));
    expect(loaded.ok && loaded.value.diagnostics).toMatchObject([
      { code: "SG-POLICY-TEXT", severity: "error", line: 3, remedy: expect.stringContaining("save the file as UTF-8") },
    ]);
    expect(loadFrom(saved("utf8.yaml", rule("café"), "utf8"))).toMatchObject({ ok: true, value: { diagnostics: [] } });
  });

  it("is refused where another one extends it", () => {
    saved("base.yaml", rule("café"), "latin1");
    const loaded = loadFrom(saved("over.yaml", "version: 1\nextends: [base.yaml]\n", "utf8"));
    expect(loaded.ok && loaded.value.diagnostics).toMatchObject([{ code: "SG-POLICY-TEXT", severity: "error" }]);
  });

  it("is refused in UTF-16", () => {
    const loaded = loadFrom(saved("wide.yaml", "\ufeffversion: 1\n", "utf16le"));
    expect(loaded.ok && loaded.value.diagnostics).toMatchObject([{ code: "SG-POLICY-TEXT" }]);
  });
});
