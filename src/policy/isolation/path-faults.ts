/** Faults of a path in a scope: its spelling, or that it opens more than an author can intend. */

/** The longest path that Linux takes. */
const pathUnitsMax = 4_096;

/** Folders of the system: an entry for one of them covers everything else inside it. */
const systemFolders = new Set(
  (
    "bin boot dev etc home lib lib32 lib64 libx32 lost+found media mnt opt proc root run sbin srv sys tmp " +
    "usr var Users System Library private"
  ).split(" "),
);

/** Folders below those that hold what belongs to everybody on the machine. */
const sharedFolders = new Set(
  (
    "/run/user /run/secrets /var/run /var/lib /var/spool /var/log /var/cache /var/tmp /usr/bin /usr/sbin " +
    "/usr/lib /usr/lib64 /usr/local /usr/local/bin /usr/share /private/etc /private/var /private/tmp"
  ).split(" "),
);

/** Views into the kernel and into other processes: the projection has its own, and no other can be let in safely. */
const kernelFolders = ["/proc", "/sys", "/dev"];

/** Why the text is not a path of a scope, with a remedy; undefined if it is one. */
export function spellingFault(path: string): { readonly why: string; readonly remedy: string } | undefined {
  const remedy = "write an absolute path, or one that begins with `~/` or `./`";
  if (path.length > pathUnitsMax) return { why: "is longer than any path", remedy: "name a folder above it" };
  if (/[\p{Cc}]/u.test(path)) return { why: "holds a control character", remedy: "name a folder above it" };
  const [first = "", ...rest] = path.split("/");
  if (!["", "~", "."].includes(first) || path === "") return { why: "is not an absolute path", remedy };
  if (rest.includes("..")) return { why: "climbs with `..`", remedy: "write where it leads" };
  if (/[*?[\]{}]/.test(path)) {
    return { why: "has a wildcard, and a scope names files and whole folders", remedy: "name the folder itself" };
  }
  return undefined;
}

/** The area that such a path would open, or undefined if it is narrow enough. Takes plain paths (`plainPath`). */
export function breadthFault(path: string): string | undefined {
  if (path === "/") return "the whole machine";
  if (path === "~" || homeOf(path)?.length === 0) return "everything in a home folder";
  const [, first = "", ...rest] = path.split("/");
  if (!path.startsWith("/")) return undefined;
  if (kernelFolders.some((folder) => path.startsWith(`${folder}/`))) return "a view into the kernel or its devices";
  if (rest.length === 0 && systemFolders.has(first)) return `all of \`/${first}\``;
  return sharedFolders.has(path) ? `all of \`${path}\`` : undefined;
}

/** Parts of a path below some home folder; undefined where it is in none. */
export function homeOf(path: string): readonly string[] | undefined {
  const [first = "", ...rest] = path.split("/");
  if (first === "~") return rest;
  if (rest[0] === "root") return rest.slice(1);
  if ((rest[0] === "home" || rest[0] === "Users") && rest.length > 1) return rest.slice(2);
  return undefined;
}
