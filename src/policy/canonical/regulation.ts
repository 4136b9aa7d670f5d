/** Long form of the section `regulation`. */
import type { LeaseText, RegulationSection } from "../document-regulation.ts";
import { canonicalDuration } from "./duration.ts";
import type { LeaseForm, RegulationForm } from "./form.ts";
import { compact, listOf, sortedWords } from "./labels.ts";
import type { Naming } from "./names.ts";
import { resolveName } from "./names.ts";

/** What has only one spelling stays as it is written; leases get the full names of their tools. */
export function regulationForm(section: RegulationSection, naming: Naming): RegulationForm {
  const { leases, filter, ...rest } = section;
  return compact<RegulationForm>({
    ...rest,
    filter: filter?.ttl === undefined ? filter : { ...filter, ttl: canonicalDuration(filter.ttl) },
    leases: leases?.map((lease, index) => leaseForm(lease, index, naming)),
  });
}

function leaseForm(lease: LeaseText, index: number, naming: Naming): LeaseForm {
  const path = ["regulation", "leases", index, "tool"];
  return {
    tool: sortedWords(listOf(lease.tool).map((name) => resolveName(name, naming, path))),
    ...(lease.calls === undefined ? {} : { calls: lease.calls }),
    ...(lease.for === undefined ? {} : { for: canonicalDuration(lease.for) }),
  };
}
