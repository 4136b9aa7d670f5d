// Commands on another machine.
import { describe, expect, it } from "vitest";
import { commandFault, lines } from "../../../../test/kit/readings/readings.ts";

describe("ssh", () => {
  it.each(["ssh host ls", "ssh ann@host.example.org 'ls -la | head'", "ssh -q -T -p 2222 host uptime"])(
    "%s only reads there",
    (text) => {
      expect(commandFault("ssh", text)).toBeUndefined();
    },
  );

  it.each(
    lines(String.raw`
      ssh -o ProxyCommand=evil host ls
      ssh -oProxyCommand=evil host ls
      ssh -o LocalCommand=evil -o PermitLocalCommand=yes host ls
      ssh -F x host ls
      ssh -i x host ls
      ssh -I x host ls
      ssh -J evil host ls
      ssh -L 80:a:80 host ls
      ssh -R 80:a:80 host ls
      ssh -D 1080 host ls
      ssh -W a:80 host
      ssh -w 0 host ls
      ssh -S x host ls
      ssh -M host ls
      ssh -A host ls
      ssh -X host ls
      ssh -E log host ls
      ssh -f host ls
      ssh -N host
      ssh -t host ls
      ssh -p 22 host
      ssh -p x host ls
      ssh -l ann host ls
      ssh -c x host ls
      ssh -b 1 host ls
      ssh -e x host ls
      ssh -B x host ls
      ssh -G host
      ssh -Q cipher
      ssh -y host ls
      ssh
      ssh host
      ssh host rm x
      ssh host 'ls; rm x'
      ssh host ls ';' rm x
      ssh host 'ls > x'
      ssh host 'ls $(rm x)'
      ssh host 'ls \$(rm x)'
      ssh host "ls \$HOME"
      ssh host bash
      ssh host sudo ls
      ssh host git status
      ssh host env A=b ls
      ssh host ssh other ls
      ssh host kubectl get pods
      ssh host docker ps
      ssh host 'cd x && git status'
      ssh host cat .ssh/id_rsa
      ssh -- host ls
      ssh '-oProxyCommand=evil' host ls
      ssh host.example.org: ls
      ssh 'ho st' ls
      ssh -oX ls
      ssh $HOST ls
      ssh host ls > x
      ssh host ls | sh
      ssh host ls; rm x
      ssh host 'awk 1'
      ssh host 'find . -delete'
      ssh host 'tar --to-command=sh -xf x'
      ssh host scp a b
      scp a host:b
      sftp host
      mosh host
      slogin host ls
      autossh host ls
      SSH_ASKPASS=x ssh host ls
      rm uname
    `),
  )("%s does more, or cannot be read", (text) => {
    expect(commandFault("ssh", text)).toBeTypeOf("string");
  });
});
