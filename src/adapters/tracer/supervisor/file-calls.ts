/** Calls that change a file by its name, and which of their arguments are the names. */
import type { EffectAction } from "../../../core/isolation/effect-trace.ts";
import type { SystemCall } from "../../bpf/system-calls.ts";

/** Argument indices of a path: `folder` is the descriptor of its folder (undefined = the working folder). */
export type PathAt = { readonly folder?: number; readonly path: number };

export type FileCall = {
  readonly action: EffectAction;
  readonly from: PathAt;
  readonly to?: PathAt;
  /** Precondition: `present` if the file must exist, `absent` if the name must be free. */
  readonly needs: "present" | "absent";
  readonly extra?: string;
};

const permissions = (extra: string, from: PathAt): FileCall => ({
  action: "file-permissions",
  from,
  needs: "present",
  extra,
});

const plain: PathAt = { path: 0 };
const inFolder: PathAt = { folder: 0, path: 1 };

export const fileCalls: Partial<Record<SystemCall, FileCall>> = {
  unlink: { action: "file-delete", from: plain, needs: "present" },
  unlinkat: { action: "file-delete", from: inFolder, needs: "present" },
  rmdir: { action: "file-delete", from: plain, needs: "present", extra: "rmdir" },
  rename: { action: "file-rename", from: plain, to: { path: 1 }, needs: "present" },
  renameat: { action: "file-rename", from: inFolder, to: { folder: 2, path: 3 }, needs: "present" },
  renameat2: { action: "file-rename", from: inFolder, to: { folder: 2, path: 3 }, needs: "present" },
  link: { action: "file-link", from: { path: 1 }, to: plain, needs: "absent", extra: "link" },
  linkat: { action: "file-link", from: { folder: 2, path: 3 }, to: inFolder, needs: "absent", extra: "link" },
  mkdir: { action: "file-create", from: plain, needs: "absent", extra: "mkdir" },
  mkdirat: { action: "file-create", from: inFolder, needs: "absent", extra: "mkdir" },
  mknod: { action: "file-create", from: plain, needs: "absent", extra: "mknod" },
  mknodat: { action: "file-create", from: inFolder, needs: "absent", extra: "mknod" },
  truncate: { action: "file-write", from: plain, needs: "present", extra: "truncate" },
  chmod: permissions("chmod", plain),
  fchmodat: permissions("chmod", inFolder),
  fchmodat2: permissions("chmod", inFolder),
  chown: permissions("chown", plain),
  lchown: permissions("chown", plain),
  fchownat: permissions("chown", inFolder),
  utime: permissions("utimes", plain),
  utimes: permissions("utimes", plain),
  futimesat: permissions("utimes", inFolder),
  utimensat: permissions("utimes", inFolder),
  setxattr: permissions("setxattr", plain),
  lsetxattr: permissions("setxattr", plain),
  setxattrat: permissions("setxattr", inFolder),
};
