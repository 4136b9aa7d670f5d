/** Shells, sessions of a desktop, and tools that act when a folder is entered. */
import type { ObeyedKind } from "./row.ts";

export const shells: readonly ObeyedKind[] = [
  {
    id: "shell-start",
    why: "shells and sessions run it when they start",
    rows: [
      [
        "https://www.gnu.org/software/bash/manual/html_node/Bash-Startup-Files.html",
        ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .bashrc.d/ .profile .config/bash/",
      ],
      ["https://tiswww.case.edu/php/chet/readline/readline.html", ".inputrc"],
      [
        "https://zsh.sourceforge.io/Doc/Release/Files.html",
        ".zshrc .zshenv .zprofile .zlogin .zlogout .config/zsh/ .oh-my-zsh/ .zcompdump",
      ],
      ["https://www.kornshell.com/", ".kshrc .mkshrc .shrc .yashrc .yash_profile"],
      ["https://www.tcsh.org/", ".cshrc .tcshrc .login .logout"],
      ["https://fishshell.com/docs/current/language.html#configuration-files", ".config/fish/"],
      ["https://www.nushell.sh/book/configuration.html", ".config/nushell/"],
      ["https://elv.sh/ref/command.html", ".config/elvish/ .elvish/"],
      ["https://xon.sh/xonshrc.html", ".xonshrc .config/xonsh/"],
      [
        "https://learn.microsoft.com/en-us/powershell/module/microsoft.powershell.core/about/about_profiles",
        "profile.ps1 *_profile.ps1 .config/powershell/",
      ],
      ["https://www.x.org/releases/current/doc/man/man1/startx.1.xhtml", ".xinitrc .xserverrc .xsession .xprofile"],
      ["https://wiki.debian.org/Xsession", ".xsessionrc"],
      ["https://man7.org/linux/man-pages/man8/pam_env.8.html", ".pam_environment"],
      [
        "https://specifications.freedesktop.org/autostart-spec/latest/",
        ".config/autostart/ .local/share/applications/",
      ],
      ["https://dbus.freedesktop.org/doc/dbus-daemon.1.html", ".local/share/dbus-1/"],
      [
        "https://www.freedesktop.org/software/systemd/man/latest/systemd.unit.html",
        ".config/systemd/ .config/environment.d/ .local/share/systemd/",
      ],
      ["https://userbase.kde.org/Session_Environment_Variables", ".config/plasma-workspace/ .kde/autostart/"],
      [
        "https://i3wm.org/docs/userguide.html",
        ".config/i3/ .i3/ .config/sway/ .config/hypr/ .config/bspwm/ .config/awesome/",
      ],
      [
        "https://developer.apple.com/library/archive/documentation/MacOSX/Conceptual/BPSystemStartup/Chapters/CreatingLaunchdJobs.html",
        "library/launchagents/ library/launchdaemons/",
      ],
      [
        "https://learn.microsoft.com/en-us/windows/win32/shell/autorun-cmds",
        "autorun.inf start*menu/programs/startup/",
      ],
      ["https://man.openbsd.org/ssh_config", ".ssh/"],
      ["https://www.gnupg.org/documentation/manuals/gnupg/GPG-Configuration.html", ".gnupg/"],
      ["https://man.openbsd.org/tmux", ".tmux.conf .tmux/ .config/tmux/"],
      ["https://www.gnu.org/software/screen/manual/screen.html", ".screenrc"],
      [
        "https://wezterm.org/config/files.html",
        ".wezterm.lua .config/wezterm/ .config/kitty/ .config/alacritty/ .config/ghostty/",
      ],
      ["https://www.hammerspoon.org/go/", ".hammerspoon/"],
      ["https://curl.se/docs/manpage.html", ".curlrc _curlrc .wgetrc"],
      ["https://neomutt.org/guide/configuration.html", ".muttrc .mutt/ .mailcap .procmailrc .forward"],
    ],
  },
  {
    id: "folder-entry",
    why: "shells act on it when the folder is entered, or a program is started in it",
    rows: [
      ["https://direnv.net/man/direnv.1.html", ".envrc .direnv/ .config/direnv/"],
      [
        "https://mise.jdx.dev/configuration.html",
        "mise.toml .mise.toml mise.*.toml .mise.*.toml .mise/ mise/config.toml .config/mise/ .config/mise.toml .rtx.toml",
      ],
      ["https://asdf-vm.com/manage/configuration.html", ".tool-versions .asdfrc .asdf/"],
      ["https://github.com/Tarrasch/zsh-autoenv", ".autoenv .autoenv.zsh .autoenv_leave.zsh .env.leave"],
      ["https://github.com/cxreg/smartcd", ".bash_enter .bash_leave .smartcd/"],
      ["https://github.com/alecthomas/ondir", ".ondirrc"],
      ["https://rust-lang.github.io/rustup/overrides.html", "rust-toolchain rust-toolchain.toml"],
      ["https://www.jetify.com/docs/devbox/configuration/", "devbox.json devenv.nix devenv.yaml .flox/"],
      ["https://moonrepo.dev/docs/proto/config", ".proto/ .prototools"],
    ],
  },
];
