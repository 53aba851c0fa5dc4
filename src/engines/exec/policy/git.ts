import type { Grammar, Rule } from "./types.ts";

const DIFF = `-p -u --patch -s --no-patch -U=int --unified=int --raw --minimal --patience --histogram --diff-algorithm= --stat[=]
 --compact-summary --numstat --shortstat --dirstat[=] --summary --name-only --name-status --color[=] --no-color --word-diff[=]
 --word-diff-regex= --color-words[=] --no-renames --check --full-index --binary --abbrev[=] -B[] -M[] -C[] --find-renames[=]
 --find-copies[=] --find-copies-harder -D -l=int --diff-filter= -S= -G= --pickaxe-all --pickaxe-regex -R --relative[=] -a --text
 -w -b --ignore-space-at-eol --ignore-cr-at-eol --ignore-all-space --ignore-space-change --ignore-blank-lines -I=
 --inter-hunk-context=int -W --function-context --exit-code --quiet -z --no-prefix --no-ext-diff --no-textconv`;

const LOG = `-# -n=int --max-count=int --oneline --graph --all --branches[=] --tags[=] --remotes[=] --since= --until= --after= --before=
 --author= --committer= --grep= -i -E -F -P --all-match --invert-grep --regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp
 --merges --no-merges --first-parent --follow --reverse --date= --format= --pretty[=] --decorate[=] --no-decorate --abbrev-commit
 --no-abbrev-commit --skip=int --topo-order --date-order --author-date-order --left-right --left-only --right-only --cherry
 --cherry-pick --cherry-mark --ancestry-path --simplify-by-decoration --full-history --dense --sparse --not --walk-reflogs -g -L=
 --no-walk --source -c --cc -m -t --use-mailmap --no-mailmap --boundary --glob= --exclude=`;

/** Drivers and filters that a repository's own settings could name run nowhere; a submodule's settings are not even read. */
const NO_DRIVERS = ["--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"];

const refs = (flags: string, more: Grammar = {}): Grammar => ({ flags, operands: "refs", ...more });

const subcommands: Record<string, Grammar> = {
  status: refs(
    `-s --short -b --branch --porcelain[=] --long -u[] --untracked-files[=] --ignored[=] -z --column[=] --no-column --ahead-behind
     --no-ahead-behind --renames --no-renames --show-stash`,
    { after: ["--ignore-submodules=dirty"] },
  ),
  diff: refs(`${DIFF} --cached --staged --merge-base --base --ours --theirs`, { after: NO_DRIVERS }),
  log: refs(`${DIFF} ${LOG}`, { after: NO_DRIVERS }),
  show: refs(`${DIFF} ${LOG}`, { after: NO_DRIVERS }),
  whatchanged: refs(`${DIFF} ${LOG}`, { after: NO_DRIVERS }),
  "rev-list": refs(`${LOG} --count --objects`),
  "diff-tree": refs(`${DIFF} -r --root --no-commit-id --stdin`.replace("--stdin", ""), { after: NO_DRIVERS }),
  shortlog: refs(`-n -s -e -c --numbered --summary --email --no-merges --since= --until= --author= --all --group=`),
  blame: refs(
    `-L= -w -M[] -C[] -e -l -s -t -p --porcelain --line-porcelain --date= --since= --reverse -n -f --root --show-email --show-number
     --show-name --abbrev=int --no-textconv`,
    { after: ["--no-textconv"] },
  ),
  grep: refs(
    `-n -i -I -w -v -h -H -l -L -c -e= -E -F -P -G --and --or --not -A=int -B=int -C=int -W -p -q -o -z -r -m=int --line-number
     --ignore-case --word-regexp --invert-match --name-only --files-with-matches --files-without-match --count --max-depth=int
     --max-count=int --cached --heading --break --color[=] --no-color --all-match --function-context --only-matching --column
     --extended-regexp --fixed-strings --perl-regexp --context=int --after-context=int --before-context=int`,
    { after: ["--no-textconv", "--no-recurse-submodules"] },
  ),
  "ls-files": refs(
    `-c -d -m -o -i -s -u -k -z -t -v -x= --cached --deleted --modified --others --ignored --stage --unmerged --exclude-standard
     --full-name --error-unmatch --abbrev[=] --exclude= --directory --no-empty-directory --eol --deduplicate`,
  ),
  "ls-tree": refs(
    "-d -r -t -l -z --name-only --name-status --object-only --full-name --full-tree --abbrev[=] --long --format=",
  ),
  "rev-parse": refs(
    `--abbrev-ref[=] --short[=] --verify -q --quiet --show-toplevel --git-dir --absolute-git-dir --git-common-dir --is-inside-work-tree
     --is-bare-repository --is-shallow-repository --show-prefix --show-cdup --symbolic --symbolic-full-name --all --branches[=] --tags[=]
     --remotes[=]`,
  ),
  branch: refs(
    `-a -r -v -l -i --list --all --remotes --verbose --show-current --contains= --no-contains= --merged= --no-merged= --sort= --format=
     --points-at= --column[=] --color[=] --no-color --ignore-case`,
    { operands_need_one_of: ["--list", "-l"] },
  ),
  tag: refs(
    "-l --list -n[] -i --sort= --format= --contains= --no-contains= --merged= --no-merged= --points-at= --column[=] --ignore-case",
    {
      operands_need_one_of: ["--list", "-l"],
    },
  ),
  remote: refs("-v --verbose --all --push", { first_operand: /^(get-url)?$/ }),
  config: refs(
    "--get --get-all --get-regexp --list -l --name-only --show-origin --show-scope --local -z --null --bool --int --type=",
    {
      need_one_of: ["--get", "--get-all", "--get-regexp", "--list", "-l"],
    },
  ),
  stash: refs(LOG, { first_operand: /^list$/ }),
  worktree: refs("--porcelain -v -z", { first_operand: /^list$/ }),
  reflog: refs(`${LOG} ${DIFF}`, {
    first_operand_not: /^(expire|delete|drop|exists)$/,
    after: ["--no-ext-diff", "--no-textconv"],
  }),
  "cat-file": refs("-t -s -e -p"),
  describe: refs(
    "--tags --all --long --always --abbrev[=] --match= --exclude= --contains --first-parent --exact-match --candidates=int",
  ),
  "merge-base": refs("-a --all --is-ancestor --fork-point --octopus --independent"),
  "for-each-ref": refs(
    "--count=int --sort= --format= --contains= --no-contains= --merged= --no-merged= --points-at= --ignore-case",
  ),
  "show-ref": refs("--head --heads --tags --verify --hash[=] -s[] -d --dereference --abbrev[=] -q --quiet"),
  "name-rev": refs("--tags --refs= --always --name-only --no-undefined"),
  "count-objects": refs("-v -H --verbose --human-readable"),
  "check-ignore": refs("-v -n -q --verbose --non-matching --quiet"),
  "check-attr": refs("-a --all --cached"),
  version: refs("--build-options"),
};

/** Settings that win over a repository's own: nothing named there is run. Filters, whose names are free, are added by the gate. */
const SETTINGS = [
  "core.fsmonitor=false",
  "core.untrackedCache=false",
  "core.hooksPath=/dev/null",
  "core.alternateRefsCommand=",
  "core.sshCommand=false",
  "core.askPass=false",
  "core.attributesFile=/dev/null",
  "core.excludesFile=/dev/null",
  "diff.external=",
  "diff.ignoreSubmodules=dirty",
  "submodule.recurse=false",
  "status.submoduleSummary=false",
  "log.showSignature=false",
  "gpg.program=false",
  "gpg.ssh.program=false",
  "gpg.x509.program=false",
  "gpg.ssh.defaultKeyCommand=false",
  "blame.ignoreRevsFile=",
  "protocol.allow=never",
  "credential.helper=",
  // A folder that only looks like a repository can be written by any tool, its settings included: only what .git names is one.
  "safe.bareRepository=explicit",
];

export const git: Rule = {
  name: "git",
  walled: true,
  flags:
    "-C=path --no-pager -P --no-optional-locks --literal-pathspecs --glob-pathspecs --icase-pathspecs --noglob-pathspecs --version",
  cwd_flag: "-C",
  before: ["--no-pager", ...SETTINGS.flatMap((setting) => ["-c", setting])],
  subcommands,
  env: {
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_ALLOW_PROTOCOL: "none",
    GIT_NO_LAZY_FETCH: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_PAGER: "cat",
    GIT_EDITOR: "false",
    GIT_ASKPASS: "false",
  },
  allows: [
    "git status",
    "git status -sb",
    "git -C sub log -5 --oneline",
    "git log -p --since=yesterday -- src",
    "git show HEAD~2:src/a.ts",
    "git diff main..dev --stat",
    "git blame -L 10,20 src/a.ts",
    "git branch -a",
    "git branch --list 'feat/*'",
    "git tag -l",
    "git ls-files -o --exclude-standard",
    "git stash list",
    "git remote -v",
    "git config --get user.name",
    "git grep -n TODO",
    "git --version",
  ],
  refuses: [
    "git -c alias.x=!id x",
    "git --exec-path=/tmp status",
    "git -c core.fsmonitor=/tmp/x status",
    "git -ccore.pager=x log",
    "git grep -O/tmp/x a",
    "git grep --open-files-in-pager=x a",
    "git ls-remote --upload-pack=x .",
    "git clone ext::sh",
    "git diff --ext-diff",
    "git diff --output=x",
    "git log --output x",
    "git diff --textconv",
    "git diff --no-index a b",
    "git branch new",
    "git branch -D main",
    "git tag v1",
    "git config core.pager x",
    "git commit -m x",
    "git push",
    "git stash",
    "git stash drop",
    "git reflog expire --all",
    "git status --help",
    "git help -a",
    "git blame --contents x y",
    "git cat-file --textconv HEAD:x",
    "git remote add x y",
    "git describe --dirty",
    "git --git-dir=/tmp/x log",
    "git --work-tree=/ diff",
    "git diff --submodule=diff",
    "git log --ext-diff",
    "git status --ignore-submodules=none",
    "git",
    "git archive HEAD",
    "git rev-parse --git-path=x",
  ],
};
