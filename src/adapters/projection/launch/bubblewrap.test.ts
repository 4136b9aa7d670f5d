import fc from "fast-check";
import { expect, test } from "vitest";
import { type Bind, orderBinds } from "./bind-list.ts";
import { bubblewrapOptions, encodeOptions, inMemory } from "./bubblewrap.ts";

const binds: readonly Bind[] = [
  { kind: "bind", source: "/home/ann/work", target: "/home/ann/work", access: "write" },
  { kind: "scratch", target: "/home/ann" },
  { kind: "mask", target: "/home/ann/work/.env", folder: false },
  { kind: "mask", target: "/home/ann/work/private", folder: true },
  { kind: "scratch", target: "/tmp" },
  { kind: "bind", source: "/home/ann/.npm/pkg", target: "/home/ann/.npm/pkg", access: "read" },
];

test("golden: the options of one projection", () => {
  const options = bubblewrapOptions({
    system: [
      { kind: "folder", path: "/usr" },
      { kind: "link", path: "/bin", to: "usr/bin" },
    ],
    etc: ["/etc/ld.so.cache"],
    files: [{ source: "/mnt/passwd", target: "/etc/passwd" }],
    binds,
    environment: { HOME: "/home/ann" },
    workingDirectory: "/home/ann/work",
    uid: 1000,
    gid: 1000,
    filterDescriptor: 5,
    scratchMb: 1,
  });
  expect(options.join(" ").split(/ (?=--)/)).toMatchInlineSnapshot(`
    [
      "--unshare-user",
      "--unshare-ipc",
      "--unshare-pid",
      "--unshare-uts",
      "--unshare-cgroup-try",
      "--uid 1000",
      "--gid 1000",
      "--hostname projection",
      "--die-with-parent",
      "--new-session",
      "--cap-drop ALL",
      "--ro-bind /usr /usr",
      "--symlink usr/bin /bin",
      "--ro-bind /etc/ld.so.cache /etc/ld.so.cache",
      "--ro-bind /mnt/passwd /etc/passwd",
      "--proc /proc",
      "--dev /dev",
      "--size 1048576",
      "--tmpfs /dev/shm",
      "--remount-ro /dev",
      "--ro-bind /proc/sys /proc/sys",
      "--size 1048576",
      "--tmpfs /tmp",
      "--size 1048576",
      "--tmpfs /home/ann",
      "--bind /home/ann/work /home/ann/work",
      "--ro-bind /home/ann/.npm/pkg /home/ann/.npm/pkg",
      "--ro-bind /dev/null /home/ann/work/.env",
      "--perms 0000",
      "--tmpfs /home/ann/work/private",
      "--remount-ro /home/ann/work/private",
      "--remount-ro /",
      "--clearenv",
      "--setenv HOME /home/ann",
      "--chdir /home/ann/work",
      "--seccomp 5",
    ]
  `);
});

test("A10: every folder in memory has a size, and is named for those who count", () => {
  expect(inMemory(binds)).toEqual(["/dev/shm", "/home/ann", "/tmp"]);
});

test("options are texts that end in NUL", () => {
  expect(Buffer.from(encodeOptions(["--a", "b c"])).toString()).toBe("--a\0b c\0");
});

const path = fc
  .array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 4 })
  .map((parts) => `/${parts.join("/")}`);
const anyBind: fc.Arbitrary<Bind> = fc.oneof(
  path.map((target): Bind => ({ kind: "scratch", target })),
  fc
    .tuple(path, fc.constantFrom("read", "write"))
    .map(([target, access]): Bind => ({ kind: "bind", source: target, target, access })),
  fc.tuple(path, fc.boolean()).map(([target, folder]): Bind => ({ kind: "mask", target, folder })),
);

test("law: nothing is bound over a mask or within one", () => {
  fc.assert(
    fc.property(fc.array(anyBind, { maxLength: 12 }), (list) => {
      const ordered = orderBinds(list);
      const masks = ordered.filter((one) => one.kind === "mask").map((one) => one.target);
      expect(new Set(masks)).toEqual(new Set(list.filter((one) => one.kind === "mask").map((one) => one.target)));
      const first = ordered.findIndex((one) => one.kind === "mask");
      const late = first < 0 ? [] : ordered.slice(first).filter((one) => one.kind !== "mask");
      expect(late).toEqual([]);
      for (const one of ordered) {
        const inside = masks.some((mask) => one.target === mask || one.target.startsWith(`${mask}/`));
        if (one.kind !== "mask") expect(inside).toBe(false);
      }
    }),
  );
});

test("law: a wide mount never comes after a narrow one within it", () => {
  fc.assert(
    fc.property(fc.array(anyBind, { maxLength: 12 }), (list) => {
      const mounts = orderBinds(list).filter((one) => one.kind !== "mask");
      mounts.forEach((narrow, index) => {
        const wide = mounts.slice(index + 1).find((one) => narrow.target.startsWith(`${one.target}/`));
        expect(wide).toBeUndefined();
      });
    }),
  );
});

test("of two binds of one path the writable one stays", () => {
  const read: Bind = { kind: "bind", source: "/w", target: "/w", access: "read" };
  const write: Bind = { kind: "bind", source: "/w", target: "/w", access: "write" };
  expect(orderBinds([write, read])).toEqual([write]);
  expect(orderBinds([read, { kind: "scratch", target: "/w" }])).toEqual([read]);
});
