/** Package managers, programs found by their name, and command-line tools that read commands from a folder. */
import type { ObeyedKind } from "./row.ts";

export const packages: readonly ObeyedKind[] = [
  {
    id: "package-manager",
    why: "package managers take registries, scripts or hooks from it",
    rows: [
      ["https://docs.npmjs.com/cli/configuring-npm/npmrc", ".npmrc node_modules/.hooks/"],
      [
        "https://yarnpkg.com/configuration/yarnrc",
        ".yarnrc .yarnrc.yml .yarn/releases/ .yarn/plugins/ yarn.config.cjs",
      ],
      ["https://yarnpkg.com/features/pnp", ".pnp.cjs .pnp.js .pnp.loader.mjs .pnp.data.json .yarn/unplugged/"],
      ["https://pnpm.io/pnpmfile", ".pnpmfile.cjs .pnpmfile.mjs pnpmfile.js .config/pnpm/"],
      ["https://bun.com/docs/runtime/bunfig", "bunfig.toml .bunfig.toml"],
      ["https://doc.rust-lang.org/cargo/reference/config.html", ".cargo/"],
      ["https://packaging.python.org/en/latest/specifications/pypirc/", ".pypirc .pydistutils.cfg"],
      ["https://pip.pypa.io/en/stable/topics/configuration/", ".pip/ .config/pip/ pip.conf pip.ini"],
      ["https://docs.astral.sh/uv/concepts/configuration-files/", "uv.toml .config/uv/"],
      ["https://python-poetry.org/docs/configuration/", "poetry.toml .config/pypoetry/"],
      ["https://docs.conda.io/projects/conda/en/latest/user-guide/configuration/", ".condarc condarc .conda/ .mambarc"],
      ["https://bundler.io/man/bundle-config.1.html", ".bundle/ .gemrc .gem/"],
      ["https://getcomposer.org/doc/03-cli.md", ".composer/ .config/composer/"],
      ["https://maven.apache.org/configure.html", ".mvn/ .m2/ .mavenrc"],
      [
        "https://docs.gradle.org/current/userguide/init_scripts.html",
        ".gradle/init.gradle .gradle/init.gradle.kts .gradle/init.d/ .gradle/gradle.properties gradle/wrapper/",
      ],
      ["https://www.scala-sbt.org/1.x/docs/Using-Sbt.html", ".sbt/ .sbtopts .jvmopts .sbtrc"],
      ["https://leiningen.org/profiles.html", ".lein/ profiles.clj .clojure/"],
      ["https://cabal.readthedocs.io/en/stable/config.html", ".cabal/config .stack/config.yaml"],
      ["https://opam.ocaml.org/doc/Manual.html", ".opam/"],
      ["https://hexdocs.pm/mix/Mix.html", ".mix/ .hex/"],
      ["https://github.com/luarocks/luarocks/wiki/Config-file-format", ".luarocks/"],
      ["https://learn.microsoft.com/en-us/nuget/reference/nuget-config-file", "nuget.config .nuget/"],
      ["https://pkg.go.dev/cmd/go#hdr-Print_Go_environment_information", ".config/go/ go.env"],
      ["https://www.gnu.org/software/inetutils/manual/html_node/The-_002enetrc-file.html", ".netrc _netrc"],
    ],
  },
  {
    id: "program-path",
    why: "it is run by its name in place of another program, or in each start of one",
    rows: [
      ["https://docs.npmjs.com/cli/configuring-npm/folders", "node_modules/.bin/"],
      [
        "https://docs.python.org/3/library/venv.html",
        ".venv/bin/ venv/bin/ .venv/scripts/ venv/scripts/ bin/activate bin/activate.* bin/activate_this.py scripts/activate.bat pyvenv.cfg",
      ],
      [
        "https://docs.python.org/3/library/site.html",
        "sitecustomize.py usercustomize.py site-packages/*.pth dist-packages/*.pth site-packages/*.start *._pth sitecustomize/ usercustomize/",
      ],
      ["https://specifications.freedesktop.org/basedir-spec/latest/", ".local/bin/ .bin/"],
      ["https://bundler.io/man/bundle-binstubs.1.html", ".binstubs/"],
      ["https://github.com/bazelbuild/bazelisk", "tools/bazel .bazeliskrc"],
    ],
  },
  {
    id: "tool-config",
    why: "a command-line tool takes commands or plug-ins from it, wherever it is started",
    rows: [
      [
        "https://docs.ansible.com/ansible/latest/reference_appendices/config.html",
        "ansible.cfg .ansible.cfg .ansible/",
      ],
      [
        "https://developer.hashicorp.com/terraform/cli/config/config-file",
        ".terraformrc terraform.rc .terraform/ .terraform.d/ .tofurc",
      ],
      ["https://bazel.build/run/bazelrc", ".bazelrc user.bazelrc"],
      ["https://buck2.build/docs/concepts/buckconfig/", ".buckconfig .buckconfig.local .buckconfig.d/"],
      ["https://docs.docker.com/reference/cli/docker/", ".docker/"],
      ["https://kubernetes.io/docs/reference/access-authn-authz/authentication/", ".kube/"],
      ["https://docs.aws.amazon.com/cli/latest/userguide/cli-configure-sourcing-external.html", ".aws/"],
      ["https://cli.github.com/manual/gh_alias_set", ".config/gh/ .local/share/gh/extensions/"],
      ["https://developer.hashicorp.com/vagrant/docs/vagrantfile", ".vagrant.d/"],
      ["https://helm.sh/docs/topics/plugins/", ".local/share/helm/plugins/ .config/helm/"],
      ["https://docs.rubocop.org/rubocop/extensions.html", ".rubocop/"],
      ["https://facebook.github.io/watchman/docs/config", ".watchmanconfig"],
    ],
  },
];
