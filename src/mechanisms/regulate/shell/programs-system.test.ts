import { expect, test } from "vitest";
import { everyEffect } from "../../../core/effect.ts";
import { effectsOfCommand } from "./effects.ts";

/** Effects, then what is read `<`, written `>` and talked to `@`, then flags. */
test.each([
  ["chmod +x a", "write.local", ">a", ""],
  ["chmod -v 0644 a", "write.local", ">a", ""],
  ["chmod -R 777 a", "write.local write.local.grant", ">a", "rights"],
  ["chmod u+s a", "write.local write.local.grant", ">a", "rights"],
  ["chmod -x ~/.bashrc", "write.local write.local.config", ">~/.bashrc", "persistence"],
  ["chmod", "write.local write.local.grant", "", "rights"],
  ["chown root a", "write.local write.local.grant", ">a", "rights"],
  ["useradd ada", "write.local.grant", "", "rights"],
  ["crontab -l", "read.local", "", ""],
  ["crontab -r", "write.local.delete", "", ""],
  ["crontab f", "execute.local read.local write.local.schedule", "<f", "persistence"],
  ["crontab -", "execute.local write.local.schedule", "", "persistence"],
  ["at now", "execute.local write.local.schedule", "", "persistence"],
  ["systemctl status x", "read.local", "", ""],
  ["systemctl enable x", "write.local.config write.local.schedule", "", "persistence"],
  ["systemctl restart x", "write.local.actuate", "", ""],
  ["service x start", "write.local.actuate", "", ""],
  ["kill 5", "write.local.actuate", "", ""],
  ["reboot", "write.local.actuate", "", ""],
  ["ufw disable", "write.local.config", "", ""],
  ["mkfs.ext4 /dev/sda1", "write.local write.local.delete", ">/dev/sda1", ""],
  ["mkfs /dev/sdb", "write.local write.local.delete", ">/dev/sdb", ""],
  ["ssh-keygen -t rsa", "write.local.credential", "", "credential"],
  ["gpg --export-secret-keys", "read.local.credential", "", "credential"],
  ["gpg --import k", "write.local.credential", "", "credential"],
  ["ssh-copy-id h.example", "execute.external write.external.grant", "", ""],
  ["ssh-add", "write.local.credential", "", ""],
  ["ngrok http 80", "read.external write.external.share", "", ""],
  ["open https://a.example", "execute.local read.external", "", ""],
  ["npm install x", "execute.local read.external write.local", "", ""],
  ["npm ci", "execute.local read.external write.local", "", ""],
  ["npm publish", "write.external.publish", "", ""],
  ["npm run build", "execute.local", "", ""],
  ["npm test", "execute.local", "", ""],
  ["npm exec x", "execute.local read.external write.local", "", ""],
  ["pnpm dlx x", "execute.local read.external write.local", "", ""],
  ["npm view x", "read.external read.local", "", ""],
  ["npm uninstall x", "write.local.delete", "", ""],
  ["npm login", "read.external write.local.credential", "", "credential"],
  ["npm", "execute.local", "", ""],
  ["pip install x", "execute.local read.external write.local", "", ""],
  ["pip list", "read.external read.local", "", ""],
  ["apt-get install x", "execute.local read.external write.local write.local.config", "", ""],
  ["docker push x", "write.external.publish", "", ""],
  ["docker pull x", "read.external write.local", "", ""],
  ["docker run x", "execute.local read.external", "", ""],
  ["docker ps", "read.local", "", ""],
  ["docker rmi x", "write.local.delete", "", ""],
  ["docker login", "read.external write.local.credential", "", "credential"],
  ["docker tag a b", "execute.local", "", ""],
  ["aws s3 ls", "read.external", "", ""],
  ["aws s3 cp a s3://b", "write.external", "", ""],
  ["aws s3 sync a s3://b", "write.external.publish", "", ""],
  ["aws secretsmanager get-secret-value", "read.external read.external.credential", "", "credential"],
  ["kubectl get pods", "read.external", "", ""],
  ["kubectl delete pod x", "write.external.delete", "", ""],
  ["kubectl exec x", "execute.external", "", ""],
  ["kubectl apply -f x", "write.external", "", ""],
  ["gh auth token", "read.external.credential", "", "credential"],
  ["terraform destroy", "write.external.delete", "", ""],
])("%s", (command, effects, named, flags) => {
  const found = effectsOfCommand(command);
  expect(found.effects).toEqual(effects === "everything" ? everyEffect.toSorted() : effects.split(" ").filter(Boolean));
  const places = [
    ...found.reads.map((path) => `<${path}`),
    ...found.writes.map((path) => `>${path}`),
    ...found.destinations.map((host) => `@${host}`),
  ];
  expect(places.join(" ")).toBe(named);
  expect(found.flags.join(" ")).toBe(flags);
  expect(found.parsed).toBe(!flags.includes("unreadable"));
});
