/** What a scope must not say: one row for each way to open too much, and one for what is written in its place. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { destinationFault } from "./destination-faults.ts";
import { breadthFault, homeOf, spellingFault } from "./path-faults.ts";
import { destinationGivesAway, givesAway } from "./sensitive.ts";

const runs = { numRuns: Number(process.env["SLUICEGATE_RUNS"] ?? 200) };

describe("paths", () => {
  test.each(["/data", "~/projects/x", "./a/b", ".", "/srv/www", "/home/me/x", "/usr/share/fonts", "/mnt/data"])(
    "%s is narrow enough",
    (path) => {
      expect(spellingFault(path)).toBeUndefined();
      expect(breadthFault(path)).toBeUndefined();
      expect(givesAway(path)).toBeUndefined();
    },
  );

  test.each([
    "",
    "data",
    "~me/x",
    "../x",
    "./../x",
    "/a/../b",
    "/a/*",
    "/a/?",
    "/a\0b",
    "/a\nb",
    "C:\\x",
    `/${"x".repeat(4_100)}`,
    "$HOME/x",
    "{a,b}",
  ])("%j is no path of a scope", (path) => {
    expect(spellingFault(path)?.remedy).toBeTruthy();
  });

  test.each([
    "/",
    "~",
    "/home",
    "/home/me",
    "/root",
    "/Users/me",
    "/etc",
    "/proc",
    "/proc/1/environ",
    "/sys",
    "/sys/fs",
    "/dev",
    "/dev/mem",
    "/run",
    "/var/run",
    "/run/user",
    "/usr",
    "/tmp",
    "/opt",
    "/var",
    "/var/lib",
    "/usr/bin",
  ])("%s opens too much", (path) => {
    expect(spellingFault(path)).toBeUndefined();
    expect(breadthFault(path)).toBeTruthy();
  });

  test.each([
    "~/.ssh",
    "~/.ssh/id_rsa",
    "/home/me/.ssh/config",
    "/root/.ssh/config",
    "~/.config",
    "~/.gnupg/private-keys-v1.d",
    "~/.mozilla/firefox",
    "/Users/me/Library/Keychains",
    "~/.docker/config.json",
    "/etc/shadow",
    "/etc/ssh/x",
    "/var/run/docker.sock",
    "/run/podman/podman.sock",
    "/tmp/ssh-abc/agent.1",
    "/run/user/1000/bus",
    "/run/dbus/system_bus_socket",
    "/run/user/1000/gnupg/S.gpg-agent",
    "/tmp/.X11-unix",
    "/run/user/0/wayland-0",
    "/run/user/1000/keyring/control",
    "/run/systemd/private",
    "/run/secrets/x",
  ])("%s gives something away", (path) => {
    expect(breadthFault(path)).toBeUndefined();
    expect(givesAway(path)).toBeTruthy();
  });

  test("names that only begin alike give nothing away", () => {
    expect(["~/.sshx", "~/x/.ssh", "/etc/shadowed", "/run/foo.sock"].map(givesAway)).toEqual(Array(4).fill(undefined));
  });

  test("what lies in a home folder is told by any of its names", () => {
    expect(["~/.ssh/b", "/home/me/.ssh/b", "/root/.ssh/b", "/Users/me/.ssh/b"].map(homeOf)).toEqual(
      Array(4).fill([".ssh", "b"]),
    );
    expect(["/home", "/srv/x", "./x"].map(homeOf)).toEqual([undefined, undefined, undefined]);
  });
});

describe("destinations", () => {
  test.each([
    "api.example.com:443",
    "api.example.com",
    "*.example.com:8443",
    "*.example.co.uk",
    "localhost:5432",
    "db:5432",
    "10.0.0.5:5432",
    "10.0.0.0/24:443",
    "[2001:db8::1]:443",
    "2001:db8::1",
    "*.api.myapp.herokuapp.com:443",
  ])("%s is one", (text) => {
    expect(destinationFault(text)).toBeUndefined();
    expect(destinationGivesAway(text)).toBeUndefined();
  });

  test.each([
    "*",
    "*:443",
    ":443",
    "",
    "*.com",
    "*.com:443",
    "*.COM",
    "*.co.uk",
    "*.com.au:443",
    "*.github.io",
    "*.amazonaws.com",
    "*.localhost",
    "0.0.0.0/0",
    "0.0.0.0:443",
    "::/0",
    "[::]:443",
    "10.0.0.0/8",
    "10.0.0.0/23:1",
    "[2001:db8::/32]:443",
  ])("%j opens too much", (text) => {
    expect(destinationFault(text)?.code).toBe("breadth");
  });

  test.each([
    "https://x.example",
    "x.example/path",
    "a b",
    "x.example:0",
    "x.example:65536",
    "x.example:443-445",
    "x.example:*",
    "api.*.example.com",
    "010.0.0.1:443",
    "0x7f.1",
    "user@x.example",
  ])("%j is none", (text) => {
    expect(destinationFault(text)?.code).toBe("spelling");
  });

  test.each([
    "169.254.169.254",
    "169.254.169.254:80",
    "169.254.169.0/24:80",
    "metadata.google.internal",
    "*.google.internal",
  ])("%s hands out keys", (text) => {
    expect(destinationGivesAway(text)).toBeTruthy();
  });

  test("any text gets an answer, and no text with a wildcard host passes", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), (text) => {
        expect(destinationFault(`*${text.replaceAll(".", "")}`)).toBeDefined();
        destinationFault(text);
        spellingFault(text);
      }),
      runs,
    );
  });
});
