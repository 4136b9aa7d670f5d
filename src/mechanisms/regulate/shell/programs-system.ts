/** Programs that change the machine, its users and its scheduled programs; package managers and clouds. */
import type { Effect } from "../../../core/effect.ts";
import { type Findings, add, addEverything, addRead, addWrite } from "./findings.ts";
import { type Program, always, hasOption, named, splitArguments } from "./invocation.ts";

/** Modes that let no other user write and lend no user's rights: `+x`, `u=rw`, `644`, `0755`. */
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

const services: Program = ({ program, args, found }) => {
  const words = splitArguments(args, { valued: "H M p t n" }).rest.map(({ text }) => text);
  // The verb comes first, or after the service; any other word is only a name.
  const verb = words[/^(?:service|rc-service)$/.test(program) ? 1 : 0] ?? "";
  const asks = /^(?:status|show|cat|list.*|is-.*|print|blame|list)$/;
  const stays =
    /^(?:enable|reenable|link|edit|add-wants|preset|mask|load|bootstrap|submit|set-default|daemon-reload|set-environment|import-environment)$/;
  if (words.some((word) => stays.test(word))) {
    add(found, "write.local.schedule", "write.local.config");
    found.flags.add("persistence");
  } else if (!asks.test(verb)) add(found, "write.local.actuate");
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

type Verb = "read" | "fetch" | "bring" | "change" | "remove" | "publish" | "send" | "run" | "secret";

/** Verbs of package managers, containers and clouds. What fits none changes something. */
const verbs: readonly (readonly [RegExp, Verb])[] = [
  [/^(?:publish|unpublish|push|deploy|release|sync|rsync|yank|deprecate|dist-tag|owner|access|team)$/, "publish"],
  [/^(?:upload|put|send|cp|mv|copy|import|comment)$|^(?:put|send|upload|copy|import)-/, "send"],
  [/^(?:delete|destroy|terminate|prune|rm|rmi|purge|uninstall|unpublish|yank|remove|del$|rb$|down$)/, "remove"],
  [/secret|token|^login$|^adduser$|password|credential|sts|^auth$/, "secret"],
  [/^(?:exec|run|run-script|test|start|ssh|attach|shell|invoke|dlx|create|init|compose|up|build)$/, "run"],
  [/^(?:i|ci|get|pull|fetch|download|clone)$/, "fetch"],
  [/^(?:install|add|update|upgrade|restore|tidy|vendor|tap|link)$/, "bring"],
  [/^(?:apply|set|merge|scale|restart|rollout|edit|patch|label|enable|disable|stop|reboot|close|reopen)$/, "change"],
  [/^(?:set|modify|update|create|attach|detach|associate|authorize|revoke|register|add|start|stop)-/, "change"],
  [
    /^(?:get|list|ls|describe|show|view|status|logs?|diff|plan|search|info|version|help|ps|images|inspect|outdated|audit|why|explain|top|freeze|check)$|^(?:get|list|describe)-/,
    "read",
  ],
];

type Reach = "packages" | "containers" | "cloud";

const effectsOf: { readonly [reach in Reach]: { readonly [verb in Verb]: readonly Effect[] } } = {
  packages: {
    read: ["read.local", "read.external"],
    // Packages bring scripts that run when they are installed.
    fetch: ["read.external", "write.local", "execute.local"],
    bring: ["read.external", "write.local", "execute.local"],
    send: ["write.external.publish"],
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
    bring: ["read.external", "write.local"],
    send: ["execute.local"],
    change: ["execute.local"],
    remove: ["write.local.delete"],
    publish: ["write.external.publish"],
    run: ["execute.local", "read.external"],
    secret: ["write.local.credential", "read.external"],
  },
  cloud: {
    read: ["read.external"],
    fetch: ["read.external"],
    bring: ["read.external", "write.external"],
    send: ["write.external", "write.external.send"],
    change: ["write.external"],
    remove: ["write.external.delete"],
    publish: ["write.external.publish"],
    run: ["execute.external"],
    secret: ["read.external.credential"],
  },
};

/** Runs a package that need not be here yet. */
const brings = /^(?:exec|x|dlx|create|init)$/;

/** Options without a value, after which the verb comes. */
const mildOption = /^(?:-[qsvygfdiItup]+|--(?:silent|quiet|verbose|json|yes|global|debug|workspaces)|--?[\w-]+=.*)$/;

/** Names of things that stand before the verb. */
const things =
  /^(?:compose|image|images|container|volume|network|system|builder|buildx|context|manifest|nuget|tool|stack|service)$/;

/** Rights in a cloud, in words of its commands. */
const grants = /iam|polic|role|rbac|grant|permission|member|collaborator|owner|acl\b|access/;

function managed(reach: Reach): Program {
  return ({ program, args, found }) => {
    const own: Verb[] = [];
    const said: string[] = [];
    let known = false;
    for (const [index, { text, exact }] of args.entries()) {
      // The verb is only known when the command runs.
      if (!exact && !known && !text.startsWith("-")) return addEverything(found, "hidden");
      if (text.startsWith("-")) continue;
      const before = args[index - 1]?.text ?? "";
      // The value of an option may look like a verb, and the verb come after it.
      const sure = !before.startsWith("-") || mildOption.test(before);
      const word = text.toLowerCase();
      if (!known) said.push(word);
      const fits = verbs.flatMap(([pattern, verb]) => (pattern.test(word) ? [verb] : []));
      const counts = known && reach !== "cloud" ? [] : fits.filter((verb) => sure || verb !== "read");
      own.push(...(reach === "cloud" ? counts : counts.slice(0, word === "unpublish" || word === "yank" ? 2 : 1)));
      if (sure && !things.test(word)) known = true;
    }
    const doubtful = reach === "cloud" && own.includes("read") && own.includes("change");
    for (const verb of own.length === 0 ? (["change"] as const) : own) {
      if (!(doubtful && verb === "read")) add(found, ...effectsOf[reach][verb]);
    }
    const words = args.map(({ text }) => text.toLowerCase());
    if (reach === "packages" && said.some((word) => brings.test(word))) add(found, ...effectsOf.packages.fetch);
    if (own.includes("secret")) found.flags.add("credential");
    if (reach === "cloud") inCloud(program, words, own, found);
  };
}

/** The effects of a cloud's command beyond its verb. */
function inCloud(program: string, words: readonly string[], own: readonly Verb[], found: Findings): void {
  const asks = own.length > 0 && own.every((verb) => verb === "read" || verb === "fetch");
  if (!asks && words.some((word) => grants.test(word))) {
    add(found, "write.external.grant");
    found.flags.add("rights");
  }
  // Stores of secrets tell nothing else.
  if (/^(?:vault|op|bw)$/.test(program) || words.some((word) => word.startsWith("--with-dec")))
    add(found, "read.external.credential");
  if (/^(?:gh|glab)$/.test(program) && words.some((word) => /^(?:create|comment|edit|review)$/.test(word)))
    add(found, "write.external.publish");
  if (words.some((word) => /^-x=?(?:post|put|patch)$/.test(word))) add(found, "write.external.send");
  if (words.some((word) => /^-x=?delete$/.test(word))) add(found, "write.external.delete");
  // They run code here, too.
  if (/^(?:ansible|ansible-playbook|terraform|tofu|pulumi)$/.test(program) && !asks)
    add(found, "execute.local", "execute.external");
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
