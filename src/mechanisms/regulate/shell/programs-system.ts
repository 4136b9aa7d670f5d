/** Programs that change the machine, its people and what runs by itself; package managers and clouds. */
import type { Effect } from "../../../core/effect.ts";
import { add, addRead, addWrite } from "./findings.ts";
import type { Program } from "./invocation.ts";
import { hasOption, named, splitArguments } from "./invocation.ts";

/** Always the same, whatever the words. */
function always(...effects: readonly Effect[]): Program {
  return ({ found }) => add(found, ...effects);
}

/** Modes that let nobody else write and lend nobody's rights: `+x`, `u=rw`, `644`, `0755`. */
const mildMode = /^(?:[ugoa]*[+=-][rxX]+|u[+=-][rwxX]+|0?[0-7][0145][0145])$/;

const rights: Program = ({ program, args, found }) => {
  // A mode such as `-x` looks like an option.
  const [first, ...rest] = args.filter(({ text }) => !/^-(?:[RvcfhHLP]+$|-)/.test(text));
  const mild = program === "chmod" && first?.exact === true && mildMode.test(first.text);
  add(found, "write.local", ...(mild ? [] : ["write.local.grant"]));
  if (!mild) found.flags.add("rights");
  for (const word of rest) addWrite(found, word);
};

const people: Program = ({ found }) => {
  add(found, "write.local.grant");
  found.flags.add("rights");
};

const timed: Program = ({ args, found }) => {
  const parts = splitArguments(args, { valued: "u f t" });
  if (hasOption(parts, "l")) add(found, "read.local");
  else if (hasOption(parts, "r", "d")) add(found, "write.local.delete");
  else {
    add(found, "write.local.schedule", "execute.local");
    found.flags.add("persistence");
  }
  for (const word of parts.rest.filter(({ text }) => text !== "-")) addRead(found, word);
};

const services: Program = ({ args, found }) => {
  const words = splitArguments(args, { valued: "H M p t n" }).rest.map(({ text }) => text);
  const asks = /^(?:status|show|cat|list.*|is-.*|print|blame|list)$/;
  const stays = /^(?:enable|reenable|link|edit|add-wants|preset|mask|load|bootstrap|submit|set-default|daemon-reload)$/;
  if (words.some((word) => stays.test(word))) {
    add(found, "write.local.schedule", "write.local.config");
    found.flags.add("persistence");
  } else if (!words.some((word) => asks.test(word))) add(found, "write.local.actuate");
  else add(found, "read.local");
};

const later: Program = ({ found }) => {
  add(found, "write.local.schedule", "execute.local");
  found.flags.add("persistence");
};

const format: Program = ({ args, found }) => {
  add(found, "write.local.delete");
  for (const word of splitArguments(args, {}).rest) addWrite(found, word);
};

/** Verbs of package managers, containers and clouds: the first word that is one of them decides. */
const verbs: readonly (readonly [RegExp, "read" | "fetch" | "change" | "remove" | "publish" | "run" | "secret"])[] = [
  [/^(?:publish|upload|push|deploy|release|sync|rsync)$/, "publish"],
  [/^(?:delete|destroy|terminate|prune|rm|rmi|purge|down|uninstall|remove|del)/, "remove"],
  [/secret|token|^login$|^adduser$|password|credential|sts|^auth$/, "secret"],
  [/^(?:exec|run|run-script|test|start|ssh|attach|shell|invoke|dlx|create|init|compose|up|build)$/, "run"],
  [/^(?:install|i|ci|add|get|update|upgrade|pull|fetch|download|clone|restore|tidy|vendor|tap|link)$/, "fetch"],
  [
    /^(?:get|list|ls|describe|show|view|status|logs?|diff|plan|search|info|version|help|ps|images|inspect|outdated|audit|why|explain|top|freeze|check)$|^(?:get|list|describe)-/,
    "read",
  ],
];

type Reach = "packages" | "containers" | "cloud";

const effectsOf: { readonly [reach in Reach]: { readonly [verb in (typeof verbs)[number][1]]: readonly Effect[] } } = {
  packages: {
    read: ["read.local", "read.external"],
    // Packages bring scripts that run when they are installed.
    fetch: ["read.external", "write.local", "execute.local"],
    change: ["execute.local"],
    remove: ["write.local.delete"],
    publish: ["write.external.publish"],
    // A script of the package, which is here already; what `exec` and its like bring is added below.
    run: ["execute.local"],
    secret: ["write.local.credential", "read.external"],
  },
  containers: {
    read: ["read.local"],
    fetch: ["read.external", "write.local"],
    change: ["execute.local"],
    remove: ["write.local.delete"],
    publish: ["write.external.publish"],
    run: ["execute.local", "read.external"],
    secret: ["write.local.credential", "read.external"],
  },
  cloud: {
    read: ["read.external"],
    fetch: ["read.external"],
    change: ["write.external"],
    remove: ["write.external.delete"],
    publish: ["write.external.publish"],
    run: ["execute.external"],
    secret: ["read.external.credential"],
  },
};

/** Runs a package that need not be here yet. */
const brings = /^(?:exec|x|dlx|create|init)$/;

function managed(reach: Reach): Program {
  return ({ args, found }) => {
    const words = args.filter(({ text }) => !text.startsWith("-")).map(({ text }) => text.toLowerCase());
    const own = words.flatMap((word) => verbs.filter(([pattern]) => pattern.test(word)).map(([, verb]) => verb));
    const [first] = own;
    add(found, ...effectsOf[reach][first ?? "change"]);
    // A cloud's command names its object first, and a word such as `secret` may stand anywhere.
    for (const verb of reach === "cloud" ? own : []) add(found, ...effectsOf[reach][verb]);
    if (reach === "packages" && brings.test(words[0] ?? "")) add(found, ...effectsOf.packages.fetch);
    if (own.includes("secret")) found.flags.add("credential");
  };
}

export const systemPrograms: ReadonlyMap<string, Program> = new Map<string, Program>([
  ...named("chmod chown chgrp setfacl chattr setcap", rights),
  ...named(
    "useradd adduser usermod userdel deluser groupadd groupmod gpasswd passwd chpasswd visudo vipw chage newgrp",
    people,
  ),
  ["crontab", timed],
  ...named("at batch anacron systemd-run", later),
  ...named("systemctl service launchctl rc-service sc update-rc.d chkconfig", services),
  ...named(
    "kill pkill killall shutdown reboot halt poweroff init telinit xdotool osascript-run",
    always("write.local.actuate"),
  ),
  ...named(
    "iptables ip6tables nft ufw firewall-cmd sysctl mount umount insmod modprobe rmmod setenforce hostnamectl timedatectl " +
      "update-alternatives ldconfig swapoff swapon ip ifconfig route netplan nmcli defaults scutil networksetup chsh crontab-e",
    always("write.local.config"),
  ),
  ...named(
    "mkfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.fat mkfs.vfat mkfs.ntfs mke2fs fdisk sfdisk parted wipefs cryptsetup mkswap blkdiscard",
    format,
  ),
  ...named("ssh-keygen gpg gpg2 keytool pass secret-tool security age", ({ args, found }) => {
    const out = args.some(({ text }) => /^--?export|^show$|^find-|^lookup$|^-w$/.test(text));
    add(found, out ? "read.local.credential" : "write.local.credential");
    found.flags.add("credential");
  }),
  ...named("ssh-copy-id", always("write.external.grant", "execute.external")),
  ["ssh-add", always("write.local.credential")],
  ...named("ngrok cloudflared localtunnel lt bore frpc tailscale", always("write.external.share", "read.external")),
  ...named("open xdg-open start", always("execute.local", "read.external")),
  ...named(
    "npm yarn pnpm pip pip3 uv poetry pdm conda mamba gem bundle cargo go composer dotnet nuget twine brew",
    managed("packages"),
  ),
  ...named("apt apt-get aptitude yum dnf apk pacman zypper snap flatpak port dpkg rpm", (call) => {
    managed("packages")(call);
    add(call.found, "write.local.config");
  }),
  ...named("docker podman nerdctl docker-compose buildah skopeo ctr", managed("containers")),
  ...named(
    "aws gcloud az kubectl oc helm terraform tofu pulumi gh glab heroku vercel netlify flyctl fly firebase doctl wrangler " +
      "eksctl ansible ansible-playbook vault op bw railway supabase stripe",
    managed("cloud"),
  ),
]);
