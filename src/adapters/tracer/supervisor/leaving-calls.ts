/**
 * Attempts to leave a projection or to change the machine. The projection's own filter refuses them first where it is
 * in force, and then no tracer sees them: the kernel applies the strictest of all filters before it notifies a
 * supervisor.
 */
import type { SystemCall } from "../../bpf/system-calls.ts";

export const leavingCalls: ReadonlySet<SystemCall> = new Set<SystemCall>([
  "ptrace",
  "process_vm_writev",
  "pidfd_getfd",
  "mount",
  "umount2",
  "pivot_root",
  "move_mount",
  "open_tree",
  "fsopen",
  "chroot",
  "setns",
  "unshare",
  "open_by_handle_at",
  "init_module",
  "finit_module",
  "kexec_load",
  "bpf",
  "userfaultfd",
]);
