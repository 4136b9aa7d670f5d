/** Editors, debuggers and interactive interpreters: settings of a folder from which they run commands or code. */
import type { ObeyedKind } from "./row.ts";

export const editors: readonly ObeyedKind[] = [
  {
    id: "editor-tasks",
    why: "editors run commands from it when the folder is opened or built",
    rows: [
      ["https://code.visualstudio.com/docs/debugtest/tasks", ".vscode/tasks.json .vscode/launch.json"],
      [
        "https://code.visualstudio.com/docs/configure/settings",
        ".vscode/settings.json .vscode/extensions.json .vscode-server/ .vscode-oss/",
      ],
      ["https://code.visualstudio.com/docs/editing/workspaces/multi-root-workspaces", "*.code-workspace"],
      ["https://www.jetbrains.com/help/idea/creating-and-managing-projects.html", ".idea/ *.iml *.ipr *.iws .run/"],
      ["https://zed.dev/docs/tasks", ".zed/"],
      ["https://www.jetbrains.com/help/fleet/run-configurations.html", ".fleet/"],
      ["https://containers.dev/implementors/spec/", ".devcontainer/ .devcontainer.json devcontainer.json"],
      ["https://vimhelp.org/starting.txt.html", ".exrc _exrc .vimrc _vimrc .gvimrc _gvimrc .vim/ vimfiles/"],
      ["https://neovim.io/doc/user/options.html", ".nvimrc .nvim.lua .config/nvim/ .local/share/nvim/"],
      ["https://www.lunarvim.org/docs/configuration", ".lvimrc .config/lvim/"],
      [
        "https://www.gnu.org/software/emacs/manual/html_node/emacs/Directory-Variables.html",
        ".dir-locals.el .dir-locals-2.el",
      ],
      [
        "https://www.gnu.org/software/emacs/manual/html_node/emacs/Init-File.html",
        ".emacs .emacs.el .emacs.d/ .config/emacs/ .spacemacs .doom.d/",
      ],
      ["https://docs.helix-editor.com/configuration.html", ".helix/ .config/helix/"],
      ["https://github.com/mawww/kakoune", ".config/kak/"],
      ["https://micro-editor.github.io/", ".config/micro/"],
      [
        "https://docs.kde.org/stable_kf6/en/kate/kate/kate-application-plugin-projects.html",
        ".kateproject .kateconfig",
      ],
      [
        "https://www.sublimetext.com/docs/projects.html",
        "*.sublime-project *.sublime-workspace *.sublime-build *.sublime-settings",
      ],
      ["https://help.panic.com/nova/tasks/", ".nova/"],
      ["https://learn.microsoft.com/en-us/visualstudio/ide/customize-build-and-debug-tasks-in-visual-studio", ".vs/"],
      [
        "https://help.eclipse.org/latest/topic/org.eclipse.platform.doc.user/concepts/concepts-exttools.htm",
        ".externaltoolbuilders/ .project .classpath .factorypath .settings/ *.launch",
      ],
      ["https://netbeans.apache.org/tutorial/main/kb/docs/java/", "nbproject/"],
      ["https://build-server-protocol.github.io/docs/overview/server-discovery", ".bsp/"],
      ["https://scalameta.org/metals/docs/", ".metals/"],
      ["https://luals.github.io/wiki/plugins/", ".luarc.json .luarc.jsonc .luacheckrc"],
      ["https://ona.com/docs/classic/user/configure/workspaces/tasks", ".gitpod.yml .gitpod/ .ona/"],
      ["https://docs.replit.com/replit-app/configuration", ".replit replit.nix"],
      ["https://codesandbox.io/docs/learn/environment/task", ".codesandbox/ .stackblitzrc"],
      ["https://eclipse.dev/che/docs/", ".theia/ devfile.yaml .devfile.yaml"],
      [
        "https://eslint.org/docs/latest/use/configure/configuration-files",
        "eslint.config.* .eslintrc.js .eslintrc.cjs .eslintrc.mjs",
      ],
      [
        "https://prettier.io/docs/configuration",
        "prettier.config.* .prettierrc.js .prettierrc.cjs .prettierrc.mjs .prettierrc.ts",
      ],
      [
        "https://stylelint.io/user-guide/configure",
        "stylelint.config.* .stylelintrc.js .stylelintrc.cjs .stylelintrc.mjs",
      ],
      ["https://yarnpkg.com/getting-started/editor-sdks", ".yarn/sdks/"],
    ],
  },
  {
    id: "interpreter-start",
    why: "interpreters and tools for debugging run it when they are started here",
    rows: [
      [
        "https://sourceware.org/gdb/current/onlinedocs/gdb.html/Startup.html",
        ".gdbinit .gdbearlyinit gdbinit *-gdb.py",
      ],
      ["https://lldb.llvm.org/man/lldb.html", ".lldbinit .lldbinit-*"],
      ["https://docs.python.org/3/library/pdb.html", ".pdbrc .pdbrc.py"],
      [
        "https://ipython.readthedocs.io/en/stable/config/intro.html",
        ".ipython/ ipython_config.py .pythonrc .pythonrc.py",
      ],
      [
        "https://jupyter-server.readthedocs.io/en/latest/users/configuration.html",
        ".jupyter/ jupyter_*_config.* jupyter_config.*",
      ],
      [
        "https://stat.ethz.ch/R-manual/R-devel/library/base/html/Startup.html",
        ".rprofile .renviron .rdata rprofile.site",
      ],
      ["https://docs.julialang.org/en/v1/manual/command-line-interface/", ".julia/config/"],
      ["https://docs.octave.org/latest/Startup-Files.html", ".octaverc .matlab/ startup.m"],
      ["https://docs.ruby-lang.org/en/master/IRB.html", ".irbrc _irbrc irb.rc .pryrc"],
      ["https://hexdocs.pm/iex/IEx.html", ".iex.exs"],
      ["https://www.erlang.org/doc/apps/kernel/init.html", ".erlang"],
      ["https://downloads.haskell.org/ghc/latest/docs/users_guide/ghci.html", ".ghci .haskeline"],
      ["https://ocaml.org/manual/toplevel.html", ".ocamlinit"],
      ["https://perldoc.perl.org/perldebug", ".perldb"],
      ["https://docs.oracle.com/en/java/javase/21/docs/specs/man/jdb.html", ".jdbrc jdb.ini"],
      ["https://www.postgresql.org/docs/current/app-psql.html", ".psqlrc .pg_service.conf"],
      ["https://www.sqlite.org/cli.html", ".sqliterc"],
      ["https://www.tcl-lang.org/man/tcl8.6/UserCmd/tclsh.htm", ".tclshrc .wishrc .expect.rc"],
      ["https://book.rada.re/first_steps/dotfiles.html", ".radare2rc"],
      ["https://www.php.net/manual/en/configuration.file.per-user.php", ".user.ini"],
      ["https://beyondgrep.com/documentation/", ".ackrc"],
      ["https://www.greenwoodsoftware.com/less/", ".lessfilter .lesskey"],
    ],
  },
];
