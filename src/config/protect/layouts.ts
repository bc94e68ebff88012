/**
 * What judges the work in the common layouts, as patterns (platform/glob.ts): tests, configuration of runners and of CI,
 * and what would act in a runner's place. Patterns of folders mean everything below, and a link of that name.
 */

const JS = "{js,jsx,mjs,cjs,ts,tsx,mts,cts,vue,svelte}";

/** The base's are put back; new ones stay. */
export const TESTS: readonly string[] = [
  // vitest, jest, mocha, node:test, playwright; pytest, unittest; cargo; Maven and Gradle have src/test.
  "**/{test,tests,__tests__,__snapshots__,__mocks__,__fixtures__,e2e,testdata,cassettes}",
  `**/*{.,_}{test,tests,spec,specs,test-d,e2e,cy}.${JS}`,
  "**/{test,tests}{.,_*.}{js,mjs,cjs,ts,mts,cts,py,sh,rb,rs,exs}",
  "**/{test,tests}-*.{py,sh,rb,rs,exs}",
  // Jasmine; a folder `spec` or `specs` may also hold what a product is to be.
  `**/{spec,specs}/**/*spec.${JS}`,
  `**/specs/**/*.${JS}`,
  "**/spec/{support,helpers,fixtures,factories}",
  "{fixtures,golden,goldens,expected,testing}",
  // What tests share; a product hardly has anything under such a name.
  "**/test{,s}{-,_,}{util,utils,helper,helpers,support,data,fixtures,harness,setup}{,.*}",
  "**/*.{snap,golden,expected,approved}",
  "**/*.approved.*",
  "**/*_test.{py,go,rb,exs,dart,c,cc,cpp,sh,lua}",
  "**/*_{spec,steps}.{rb,lua}",
  "**/*.{bats,feature}",
  "**/src/{androidTest,integrationTest,testFixtures,it}",
  "**/cypress/{integration,component,fixtures,support}",
  "**/{spec,rails}_helper.rb",
  "**/features/{steps,step_definitions,support}",
  "**/*.{Test,Tests,UnitTests,IntegrationTests}",
  "t/**/*.t",
];

/** Only where the base has tests of such names: `src/ab-test.js` may as well be a product's, and node:test would take it. */
export const DASHED_TESTS: readonly string[] = [
  `**/*-{test,tests,test-d}.${JS}`,
  `**/*-{spec,specs}.${JS}`,
  `**/*-{e2e,cy}.${JS}`,
  "**/{test,tests}-*.{js,mjs,cjs,ts,mts,cts}",
];
/** What a test has and a product of the same name does not: cases with a name, a runner or its assertions. */
export const TEST_TEXT =
  /(?:^|[^.\w])(?:describe|it|test|suite|context)(?:\.\w+)*\s*\(\s*["'`]|["'](?:node:|bun:)?(?:test|vitest|assert|assert\/strict|chai|tape|ava|uvu|qunit|@jest\/globals|@playwright\/test)["']|(?:^|[^.\w])(?:describe|it|test)\.each\b|\bassert\b|\bprocess\.exit|\bexpect\s*\(|\b(?:unittest|pytest|minitest|ExUnit)\b/im;

/** The base's are put back, what the base lacks is taken out. */
export const CONFIG: readonly string[] = [
  // Node
  "**/{vitest,jest,playwright,cypress,karma,wdio,ava,web-test-runner,wtr,nightwatch,codecept,stryker,rstest,testem}{.,-}{config,conf,setup,workspace,projects,*.config,*.conf,*.setup}{,.*}",
  "**/cypress{,.env}.json",
  "**/{,.}testem.{js,cjs,mjs,json,yml,yaml}",
  "**/intern.json",
  `**/setupTests.${JS}`,
  "**/.{mocha,nyc,c8,tap,detox,testcafe,lab}rc{,.*}",
  "**/.tap",
  "**/mocha.opts",
  "**/{,.}jasmine.{json,js,mjs,cjs}",
  "**/cucumber.{js,cjs,mjs,json,yml,yaml}",
  "**/features/environment.py",
  "**/node.config.json",
  // Package managers: what they run, what they load first, what they put in a package's place
  "**/.npmrc",
  "**/pnpm-workspace.{yaml,yml}",
  "**/.yarnrc{,.*}",
  "**/{.pnpmfile,pnpmfile}.{js,cjs,mjs}",
  "**/.yarn/{releases,plugins,patches,sdks,cache,unplugged}",
  "**/.pnp.{js,cjs,loader.mjs}",
  "**/patches/*{+,@}*.patch",
  "**/bunfig.toml",
  // Python
  "**/conftest.py",
  "**/{,.}pytest.{ini,toml}",
  "**/tox.{ini,toml}",
  "**/{hatch,uv,pdm,poetry}.toml",
  "**/{nose,nose2,unittest}.cfg",
  "**/.{noserc,testr.conf,stestr.conf}",
  "**/{noxfile,runtests}.py",
  "**/.coveragerc{,.*}",
  "**/{site,user}customize{,.*}",
  "**/*.{pth,pyc,pyo}",
  "**/*.{dist-info,egg-info,egg-link}",
  // Rust, Go, Java, Ruby, PHP, .NET
  "**/.cargo",
  "**/rust-toolchain{,.toml}",
  "**/.config/nextest.toml",
  "**/{,.}insta.{yaml,yml}",
  "**/go.work{,.sum}",
  "**/.mvn",
  "**/{mvnw,gradlew}{,.cmd,.bat}",
  "**/gradle/wrapper",
  "**/testng{,-*}.xml",
  "**/.{jvmopts,sbtopts,bazelrc,buckconfig}",
  "**/.rspec{,-local}",
  "**/.bundle",
  "**/.simplecov",
  "**/phpunit{,.dist}.xml{,.dist}",
  "**/{behat,codeception,phpspec}{,.dist}.{yml,yaml,php}{,.dist}",
  "**/*.runsettings",
  "**/{xunit.runner,testconfig}.json",
  // Perl, Haskell, Dart, Lua, shell, R, Clojure, CMake
  "**/.{proverc,hspec,busted,shellspec,Rprofile,Renviron}",
  "**/cabal.project.local",
  "**/dart_test.{yaml,yml}",
  "**/tests.edn",
  "**/CTestCustom.{cmake,ctest}",
  // Programs that are chosen by a file of the project
  "**/.{tool-versions,nvmrc,prototools,sdkmanrc,envrc,*-version}",
  "**/.bazelversion",
  "**/{.,}mise{.toml,.*.toml}",
  "**/{.,.config/}mise/{config,conf.d}{,.*}",
  // Dependencies and caches: made by setup, never part of a change
  "**/{node_modules,.venv,venv,.tox,.nox,site-packages,__pycache__}",
  "**/{.pytest_cache,.mypy_cache,.ruff_cache,.nyc_output,.turbo,.nx,.gradle,.parcel-cache}",
  "**/{.eslintcache,.stylelintcache,*.tsbuildinfo}",
  // How files are written out
  "**/.gitattributes",
  // CI, and pawl itself
  "**/.github/{workflows,actions}",
  "**/.{gitlab,forgejo,gitea,circleci,buildkite,woodpecker}",
  "**/.{gitlab-ci,travis,drone,woodpecker,appveyor,cirrus}.{yml,yaml}",
  "**/{azure-pipelines,bitbucket-pipelines,appveyor,codecov,.codecov}.{yml,yaml}",
  "**/Jenkinsfile",
  "pawl.{yaml,yml}",
];

/** Only where something that judges runs the tool: a word of it, the files, the sections of pyproject.toml and setup.cfg. */
export interface Tool {
  word: RegExp;
  files: readonly string[];
  /** Tests under names that only this tool gives them. */
  tests?: readonly string[];
  /** Keys of package.json. */
  keys?: readonly string[];
  /** Sections of pyproject.toml; `*` ends a beginning. */
  sections?: readonly string[];
}

const STANDARDS: readonly string[] = ["xo", "standard", "semistandard", "ts-standard"];
const PYTHON_LINTERS: readonly string[] = ["tool.bandit", "tool.vulture", "tool.pydocstyle", "tool.interrogate"];

export const TOOLS: readonly Tool[] = [
  { word: /\bvitest\b/, files: ["**/vite.config.*"] },
  {
    word: /\b(jest|react-scripts|craco)\b|@(babel|swc-node)\/(register|core)|\bbabel-(node|tape|register)/,
    files: ["**/.babelrc{,.*}", "**/babel.config.*", "**/.swcrc"],
    keys: ["babel"],
  },
  { word: /\b(g?make)\b/, files: ["**/{GNUmakefile,Makefile}", "**/*.mk"] },
  { word: /\bjust\b/, files: ["**/{.,}justfile"] },
  { word: /\btask\b/, files: ["**/Taskfile{,.dist}.{yml,yaml}"] },
  { word: /\brake\b/, files: ["**/Rakefile{,.rb}", "**/*.rake"] },
  { word: /\bnx\b/, files: ["**/{nx,project,workspace}.json"] },
  { word: /\bturbo\b/, files: ["**/turbo.{json,jsonc}"] },
  { word: /\bng\s/, files: ["**/angular.json"] },
  { word: /\bgulp\b/, files: ["**/gulpfile{,.*}"] },
  { word: /\bgrunt\b/, files: ["**/Gruntfile{,.*}"] },
  { word: /\b(invoke|inv)\s/, files: ["**/tasks.py", "**/{.,}invoke.{yaml,yml,json,py}", "tasks/**/*.py"] },
  { word: /\bmix\s/, files: ["**/mix.exs", "**/.formatter.exs"] },
  { word: /\bpre-commit\b/, files: ["**/.pre-commit-config.{yaml,yml}"] },
  { word: /\b(behave|cucumber|cucumber-js)\b/, files: ["**/{.,}behaverc", "**/behave.ini"], tests: ["**/features"] },
  { word: /\b(ctest|cmake)\b/, files: ["**/CTestConfig.cmake", "**/CMake{,User}Presets.json"] },
  { word: /\blerna\b/, files: ["**/lerna.json"] },
  { word: /\brush\s/, files: ["rush.json", "common/config/rush"] },
  { word: /\bmoon\s/, files: ["**/moon.{yml,pkl}", "**/.moon"] },
  { word: /\bdotnet\b/, files: ["**/Directory.Build.{props,targets,rsp}", "**/{nuget.config,global.json}"] },
  { word: /\bcargo[ -]make\b/, files: ["**/Makefile.toml"] },
  { word: /\bmage\b/, files: ["**/magefile.go", "**/magefiles"] },
  { word: /\bpants\s/, files: ["**/pants{,.*}.toml"] },
  { word: /\bant\s/, files: ["**/build.xml"] },
  { word: /\bceedling\b/, files: ["**/project.yml"] },
  { word: /\bearthly\b/, files: ["**/Earthfile"] },
  { word: /\bnix(-shell|-build)?\s/, files: ["**/{shell,default,flake,devenv}.nix", "**/flake.lock"] },
  { word: /\bdevbox\s/, files: ["**/devbox.{json,lock}"] },
  { word: /\bdeno\b/, files: ["**/import_map.json"] },
  { word: /\bbun\s/, files: ["**/.env{,.test,.local,.test.local}"] },
  // Those that run it go by its `paths`, too.
  { word: /\b(tsc|vue-tsc|tsgo|tsd|tsx|ts-node|ts-mocha|bun)\b/, files: ["**/{tsconfig,jsconfig}{,.*,-*}.json"] },
  {
    word: /\beslint\b/,
    files: ["**/eslint.config.*", "**/.eslintrc{,.*}", "**/.eslintignore"],
    keys: ["eslintConfig", "eslintIgnore"],
  },
  { word: /\boxlint\b/, files: ["**/{.oxlintrc.json,oxlint.config.*}", "**/.eslintignore"] },
  { word: /\boxfmt\b/, files: ["**/.oxfmtrc{,.*}"] },
  { word: /\bbiome\b/, files: ["**/{.,}biome.{json,jsonc}"] },
  {
    word: /\bprettier\b/,
    files: ["**/.prettierrc{,.*}", "**/prettier.config.*", "**/.prettierignore"],
    keys: ["prettier"],
  },
  {
    word: /\bstylelint\b/,
    files: ["**/.stylelintrc{,.*}", "**/stylelint.config.*", "**/.stylelintignore"],
    keys: ["stylelint"],
  },
  { word: /\bknip\b/, files: ["**/knip.{json,jsonc,ts,js}", "**/knip.config.*"], keys: ["knip"] },
  { word: /\bruff\b/, files: ["**/{.,}ruff.toml"], sections: ["tool.ruff*"] },
  { word: /\bmypy\b/, files: ["**/{.,}mypy.ini"], sections: ["tool.mypy*", "mypy*"] },
  { word: /\b(based)?pyright\b/, files: ["**/pyrightconfig.json"], sections: ["tool.pyright*", "tool.basedpyright*"] },
  { word: /\bpylint\b/, files: ["**/{.,}pylintrc{,.toml}"], sections: ["tool.pylint*", "pylint*"] },
  { word: /\bflake8\b/, files: ["**/.flake8"], sections: ["flake8*"] },
  { word: /\bblack\b/, files: [], sections: ["tool.black"] },
  { word: /\bgolangci-lint\b/, files: ["**/.golangci.{yml,yaml,toml,json}"] },
  { word: /\bstaticcheck\b/, files: ["**/staticcheck.conf"] },
  { word: /\bclippy\b/, files: ["**/{.,}clippy.toml"] },
  { word: /\b(cargo fmt|rustfmt)\b/, files: ["**/{.,}rustfmt.toml"] },
  { word: /\brubocop\b/, files: ["**/.rubocop{,_todo}.yml"] },
  { word: /\bshellcheck\b/, files: ["**/.shellcheckrc"] },
  {
    word: /\b(xo|standard|semistandard|ts-standard)\b/,
    files: ["**/xo.config.*", "**/.xo-config{,.*}"],
    keys: STANDARDS,
  },
  { word: /\b(size-limit|bundlesize)\b/, files: ["**/.size-limit{,.*}"], keys: ["size-limit", "bundlesize"] },
  { word: /\bdprint\b/, files: ["**/{.,}dprint.{json,jsonc}"] },
  { word: /\bmarkdownlint/, files: ["**/.markdownlint{,-cli2}{,ignore,.*}"] },
  { word: /\bcspell\b/, files: ["**/{.,}cspell.{json,yaml,yml,config.*}"], keys: ["cspell"] },
  { word: /\bdepcruise\b/, files: ["**/.dependency-cruiser.*"] },
  { word: /\b(isort|black)\b/, files: ["**/.isort.cfg"], sections: ["tool.isort", "isort"] },
  { word: /\b(bandit|vulture|pydocstyle|interrogate)\b/, files: ["**/.bandit"], sections: PYTHON_LINTERS },
  {
    word: /\b(ty|pyre|pytype)\s+check\b|\bpytype\b/,
    files: ["**/{ty.toml,.pyre_configuration}"],
    sections: ["tool.ty*", "tool.pytype"],
  },
  { word: /\byamllint\b/, files: ["**/.yamllint{,.*}"] },
  { word: /\bclang-(tidy|format)\b/, files: ["**/.clang-{tidy,format}{,-ignore}"] },
  {
    word: /\b(phpstan|psalm|phpcs)\b/,
    files: ["**/{phpstan,psalm,phpcs,.phpcs}{.,-}{neon,xml,baseline.*,dist.*,*.dist}"],
  },
  { word: /\b(detekt|ktlint|swiftlint)\b/, files: ["**/{detekt,.swiftlint}*.{yml,yaml}", "**/.editorconfig"] },
  { word: /\bdeno\s+(lint|fmt)\b/, files: ["**/deno.{json,jsonc}"] },
];

/** Keys of package.json; scripts and dependencies have rules of their own (workspace/protected-json.ts). */
export const MANIFEST_KEYS: readonly string[] = (
  "name imports scripts dependencies devDependencies optionalDependencies peerDependencies overrides resolutions pnpm " +
  "dependenciesMeta packageManager devEngines volta wireit " +
  "jest vitest mocha ava tap nyc c8 jasmine karma cypress playwright"
).split(" ");

/** Sections of pyproject.toml and setup.cfg that are a runner's. */
export const PYTHON_SECTIONS: readonly string[] = [
  "tool.pytest*",
  "tool:pytest",
  "tool.coverage*",
  "coverage*",
  "tool.tox*",
  "tool.nox*",
  "tool.hatch.envs*",
  "tool.poe*",
  "tool.taskipy*",
  "tool.pdm.scripts*",
  "tool.rye.scripts*",
  "aliases",
  "project.entry-points.pytest*",
  "tool.poetry.plugins.pytest*",
];
/** Of Cargo.toml. A key of a section means the whole file when it is said anew: what else the section has is the product's. */
export const CARGO_SECTIONS: readonly string[] = [
  "test",
  "profile.test*",
  "target.*.runner",
  "package.autotests",
  "lib.test",
  "lib.doctest",
  "lib.harness",
  "bin.test",
  "bin.harness",
];

/** What Python finds before its own and the runner's modules when it lies at the top, or beside the tests. */
export const PYTHON_SHADOWS: readonly string[] = (
  "pytest _pytest pluggy iniconfig packaging py unittest doctest nose nose2 hypothesis coverage xdist pytest_cov " +
  "abc argparse ast asyncio atexit bdb bisect builtins code codecs collections contextlib copy dataclasses datetime " +
  "difflib dis enum errno faulthandler fnmatch functools gc gettext glob hashlib heapq importlib inspect io itertools json " +
  "keyword linecache locale logging marshal math operator optparse os pathlib pdb pickle pkgutil platform posixpath " +
  "pprint random re reprlib runpy shlex shutil signal site socket stat string struct subprocess sys sysconfig tempfile " +
  "textwrap threading time timeit token tokenize tomllib traceback types typing uuid warnings weakref xml zipfile zipimport " +
  "base64 binascii cmath colorsys concurrent configparser csv ctypes decimal encodings filecmp fractions getpass hmac ipaddress " +
  "multiprocessing sqlite3 ssl statistics stringprep tracemalloc unicodedata urllib zlib zoneinfo " +
  "numpy pandas scipy pytest_asyncio pytest_mock assertpy hamcrest parameterized freezegun"
).split(" ");
/** The same for Node: a package of such a name in a workspace would take the runner's place. */
export const NODE_SHADOWS: readonly string[] = ["vitest", "jest", "mocha", "ava", "chai", "@playwright/test"];

/** Programs that a folder of the repository on PATH could hide. */
export const PROGRAMS: readonly string[] = (
  "sh bash env node npm npx yarn pnpm bun deno python python3 pytest pip pip3 uv poetry tox go cargo rustc make gmake mvn " +
  "gradle java javac ruby bundle rake php composer dotnet git vitest jest mocha tsc eslint ruff mypy"
).split(" ");
