/** Programs that know nothing of us, with resolvers of their own, find what they may. */
import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { missing } from "./fixture/network.ts";
import { openScene, type Scene, told } from "./fixture/scene.ts";

const why = missing();
if (why !== undefined) console.log(`skipped: ${why}`);

function has(program: string): boolean {
  try {
    execFileSync(program, ["--version"], { stdio: "ignore", timeout: 5_000 });
    return true;
  } catch {
    console.log(`skipped: ${program} is not installed`);
    return false;
  }
}

const python = `
import json, socket, struct, urllib.request, urllib.error
out = {}
out["fetched"] = urllib.request.urlopen("http://api.example.com/", timeout=5).read().decode()
try: urllib.request.urlopen("http://evil.example.net/", timeout=5)
except urllib.error.URLError as e: out["unknown"] = type(e.reason).__name__
found = socket.getaddrinfo("api.example.com", 80, socket.AF_INET, flags=socket.AI_ADDRCONFIG)
out["usable"] = found[0][4][0]
def question(name):
    labels = b"".join(bytes([len(l)]) + l.encode() for l in name.split("."))
    return struct.pack(">6H", 7, 0x100, 1, 0, 0, 0) + labels + b"\\0" + struct.pack(">2H", 1, 1)
s = socket.create_connection(("9.9.9.9", 53), 5)
for name in ("api.example.com", "evil.example.net"):
    q = question(name); s.sendall(struct.pack(">H", len(q)) + q)
    n = struct.unpack(">H", s.recv(2, socket.MSG_WAITALL))[0]
    out[name] = s.recv(n, socket.MSG_WAITALL)[3] & 15
s.sendall(b"\\xff\\xff" + b"stolen" * 99)
try: out["long"] = len(s.recv(9))
except ConnectionResetError: out["long"] = 0
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.settimeout(5)
u.sendto(b"\\0\\7\\1\\0" + b"stolen bytes" * 40, ("1.1.1.1", 53)); out["odd"] = u.recv(99)[3] & 15
print(json.dumps(out))`;

describe.skipIf(why !== undefined)("other programs", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene({ allow: ["api.example.com:80", "api.example.com:443"] });
  });
  afterAll(() => scene.close());

  test.skipIf(!has("python3"))("Python, its own questions for names included", async () => {
    const outcome = await scene.network.run("python3", ["-c", python]);
    expect(outcome.stderr).toBe("");
    expect(JSON.parse(outcome.stdout)).toEqual({
      fetched: "hello api.example.com",
      unknown: "gaierror",
      usable: "198.18.1.0",
      "api.example.com": 0,
      "evil.example.net": 3,
      long: 0,
      odd: 1,
    });
    const seen = scene.broker.drain();
    expect(told(seen)).toContain("dns-query denied evil.example.net - egress-not-in-scope");
    const odd = seen.find(({ detail }) => detail === "egress-malformed-query");
    expect(odd?.domain, "what was tried is told").toContain("stolen bytes");
  });

  test.skipIf(!has("curl"))("curl, directly and through each proxy", async () => {
    const trust = ["-sS", "--max-time", "8", "--cacert", scene.env["NODE_EXTRA_CA_CERTS"] ?? ""];
    const url = "https://api.example.com/";
    const ways = [[], ["--proxy", "http://198.18.0.1:3128"], ["--proxy", "socks5h://198.18.0.1:1080"], ["--ipv4"]];
    for (const way of ways) {
      const outcome = await scene.network.run("curl", [...trust, ...way, url]);
      expect(outcome, way.join(" ")).toMatchObject({ code: 0, stdout: "hello api.example.com" });
    }
    const forbidden = await scene.network.run("curl", [
      ...trust,
      "--proxy",
      "http://198.18.0.1:3128",
      "https://b.example/",
    ]);
    expect(forbidden.stderr).toContain("403");
  });
});
