/**
 * Proves through the real path (shim, daemon, policy, server process, event log) that what is allowed arrives and that
 * what is denied does not. The server's own record decides, not the answers: a gateway that forwards a call and then
 * says "refused" would fail here.
 */
import { randomBytes } from "node:crypto";
import { stringMember } from "../../core/json.ts";
import { viewsOf } from "../../gateway/log/record.ts";
import { verifyLog } from "../../gateway/log/verify.ts";
import { readLogOf } from "../../app/state/log-files.ts";
import { type Check, failed, passed } from "./check.ts";
import { type Answer, DoctorSession } from "./session.ts";
import type { PolicyDocument } from "../../policy/canonical/policy-document.ts";
import { doctorPolicy } from "./policy.ts";

/** `policy` is another one only in tests, which show that a guard that does not hold is found out. */
export async function prove(policy: PolicyDocument = doctorPolicy): Promise<readonly Check[]> {
  const secret = randomBytes(12).toString("hex");
  const session = new DoctorSession(`diary: ${secret}`, policy);
  try {
    if (!(await session.initialize())) {
      const why = session.lastWords === "" ? "no answer came" : session.lastWords.slice(0, 140);
      return [failed("path", `The guarded server did not start: ${why}`)];
    }
    const checks = [...(await calls(session)), ...(await flows(session, secret))];
    const gone = await session.leave();
    checks.push(
      gone
        ? passed("processes", "When the client left, the server's process ended too.")
        : failed("processes", "The server's process outlived its client: end it by hand and report this."),
    );
    await session.stop();
    return [...checks, await recorded(session)];
  } finally {
    await session.stop();
    session.remove();
  }
}

const reached = (session: DoctorSession, tool: string): number =>
  session.arrived().filter((call) => stringMember(call, "tool") === tool).length;

const refused = (answer: Answer | undefined): boolean => answer?.isError === true;

/** An allowed call arrives, a blocked one does not. */
async function calls(session: DoctorSession): Promise<readonly Check[]> {
  const weather = await session.call("read_weather", { place: "here" });
  const passes = weather?.text === "sunny" && reached(session, "read_weather") === 1;
  const burnt = await session.call("burn_diary", {});
  const stops = refused(burnt) && reached(session, "burn_diary") === 0;
  return [
    passes
      ? passed("allow", "An allowed call reached the server and its answer came back.")
      : failed("allow", `An allowed call did not pass: ${(weather?.text ?? "no answer").slice(0, 140)}`),
    stops
      ? passed("deny", "A denied call was refused, and the server never saw it.")
      : failed("deny", "A denied call reached the server: do not rely on this installation."),
  ];
}

/** Private data does not go out, plainly or in disguise; before it was read, the same tool works. */
async function flows(session: DoctorSession, secret: string): Promise<readonly Check[]> {
  const harmless = await session.call("send_postcard", { to: "a@example.com", text: "hello" });
  const before = harmless?.isError === false && reached(session, "send_postcard") === 1;
  const diary = await session.call("read_diary", {});
  const read = diary?.text.includes(secret) === true;
  const plain = await session.call("send_postcard", { to: "a@example.com", text: `it says ${secret}` });
  const encoded = Buffer.from(secret).toString("base64");
  const hidden = await session.call("send_postcard", { to: "a@example.com", text: encoded });
  const held = refused(plain) && refused(hidden) && reached(session, "send_postcard") === 1;
  return [
    before && read
      ? passed("before", "A harmless message went out, and private data could be read.")
      : failed(
          "before",
          `An ordinary call did not pass: ${(before ? diary : harmless)?.text.slice(0, 140) ?? "no answer"}`,
        ),
    held && read
      ? passed("flow", "Private data on its way out was stopped, plain and encoded.")
      : failed("flow", "Private data reached an outside tool: do not rely on this installation."),
  ];
}

/** Every decision of the session is in the log, and the log verifies. */
async function recorded(session: DoctorSession): Promise<Check> {
  const log = readLogOf(session.home, true);
  if (!log.ok) return failed("record", log.error.sentence);
  if (log.value === undefined)
    return failed("record", "The decisions left no event log: do not rely on this installation.");
  const { store, keys } = log.value;
  const verified = await verifyLog(store, keys);
  const records = await store.records({ order: "newest", limit: 1_000 });
  await store.close(false);
  if (!verified.ok) return failed("record", verified.error.sentence);
  if (!records.ok) return failed("record", records.error.sentence);
  const entries = records.value.flatMap((record) => viewsOf(keys, record));
  const stopped = entries.filter((entry) => entry.kind === "refused").length;
  return verified.value.valid && stopped >= 3
    ? passed("record", `Each decision is in the log (${entries.length} entries), and the log verifies.`)
    : failed("record", `The log holds ${stopped} of 3 refusals and ${verified.value.findings.length} findings.`);
}
