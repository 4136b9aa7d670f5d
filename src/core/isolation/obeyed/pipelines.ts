/** Pipelines: what a forge or a build service runs once it is pushed. */
import type { ObeyedKind } from "./row.ts";

export const pipelines: readonly ObeyedKind[] = [
  {
    id: "pipeline",
    why: "it runs with the repository's secrets once it is pushed",
    rows: [
      [
        "https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax",
        ".github/workflows/ .github/actions/",
      ],
      ["https://docs.gitlab.com/ci/yaml/", ".gitlab-ci.yml .gitlab-ci.yaml .gitlab/ci/ .gitlab-ci/ *.gitlab-ci.yml"],
      ["https://docs.gitea.com/usage/actions/overview", ".gitea/ .forgejo/"],
      ["https://circleci.com/docs/configuration-reference/", ".circleci/ circle.yml"],
      ["https://buildkite.com/docs/pipelines/configure/defining-steps", ".buildkite/ buildkite.yml"],
      ["https://woodpecker-ci.org/docs/usage/intro", ".woodpecker/ .woodpecker.yml .woodpecker.yaml"],
      ["https://docs.drone.io/pipeline/overview/", ".drone.yml .drone.star .drone.jsonnet .harness/"],
      [
        "https://support.atlassian.com/bitbucket-cloud/docs/bitbucket-pipelines-configuration-reference/",
        "bitbucket-pipelines.yml",
      ],
      [
        "https://learn.microsoft.com/en-us/azure/devops/pipelines/customize-pipeline",
        "azure-pipelines.yml azure-pipelines.yaml .azure-pipelines/ azure-pipelines/ .azuredevops/",
      ],
      ["https://www.jenkins.io/doc/book/pipeline/jenkinsfile/", "jenkinsfile jenkinsfile.* *.jenkinsfile"],
      ["https://www.jetbrains.com/help/teamcity/kotlin-dsl.html", ".teamcity/ .teamcity.yml .space.kts"],
      ["https://docs.travis-ci.com/user/customizing-the-build/", ".travis.yml .travis/"],
      ["https://www.appveyor.com/docs/appveyor-yml/", "appveyor.yml .appveyor.yml"],
      ["https://cirrus-ci.org/guide/writing-tasks/", ".cirrus.yml .cirrus.star"],
      ["https://docs.semaphoreci.com/reference/pipeline-yaml", ".semaphore/"],
      ["https://man.sr.ht/builds.sr.ht/manifest.md", ".build.yml .builds/"],
      [
        "https://cloud.google.com/build/docs/configuring-builds/create-basic-configuration",
        "cloudbuild.yaml cloudbuild.yml cloudbuild.json",
      ],
      [
        "https://docs.aws.amazon.com/codebuild/latest/userguide/build-spec-ref.html",
        "buildspec.yml buildspec.yaml amplify.yml",
      ],
      ["https://docs.bitrise.io/en/bitrise-ci/references/configuration-yaml-reference.html", "bitrise.yml"],
      ["https://docs.codemagic.io/yaml-basic/yaml-getting-started/", "codemagic.yaml"],
      ["https://codefresh.io/docs/docs/pipelines/what-is-the-codefresh-yaml/", "codefresh.yml .codefresh/"],
      ["https://docs.screwdriver.cd/user-guide/configuration/", "screwdriver.yaml"],
      ["https://go-vela.github.io/docs/reference/yaml/", ".vela.yml .vela.yaml"],
      ["https://pipelinesascode.com/docs/guide/authoringprs/", ".tekton/"],
      ["https://docs.prow.k8s.io/docs/jobs/", ".prow.yaml .prow/"],
      ["https://scrutinizer-ci.com/docs/", ".scrutinizer.yml"],
      ["https://docs.netlify.com/build/configure-builds/file-based-configuration/", "netlify.toml"],
      ["https://vercel.com/docs/project-configuration", "vercel.json vercel.ts"],
      ["https://render.com/docs/blueprint-spec", "render.yaml"],
      ["https://docs.readthedocs.com/platform/stable/config-file/v2.html", ".readthedocs.yaml .readthedocs.yml"],
    ],
  },
];
