import type { Rule } from "./types.ts";

const GREP = `-# -i -n -r -v -w -x -c -l -L -h -H -o -q -s -a -b -E -F -G -P -I -U -z -Z -A=int -B=int -C=int -m=int -e= -d= --ignore-case
 --no-ignore-case --line-number --recursive --invert-match --word-regexp --line-regexp --count --files-with-matches --files-without-match
 --no-filename --with-filename --only-matching --quiet --silent --no-messages --text --byte-offset --extended-regexp --fixed-strings
 --basic-regexp --perl-regexp --null --null-data --after-context=int --before-context=int --context=int --max-count=int --regexp= --include=
 --exclude= --exclude-dir= --binary-files= --color[=] --colour[=] --line-buffered --initial-tab --label= --no-group-separator --group-separator=`;

const RG = `-i -n -N -v -w -x -c -l -s -S -o -q -a -F -P -U -u -H -I -0 -p -e= -A=int -B=int -C=int -m=int -g= -t= -T= -r= -M=int -d=int -E= -j=int
 --ignore-case --case-sensitive --smart-case --line-number --no-line-number --invert-match --word-regexp --line-regexp --count --count-matches
 --files-with-matches --files-without-match --files --only-matching --quiet --text --fixed-strings --pcre2 --multiline --multiline-dotall
 --unrestricted --with-filename --no-filename --null --pretty --regexp= --after-context=int --before-context=int --context=int --max-count=int
 --glob= --iglob= --glob-case-insensitive --type= --type-not= --type-list --type-add= --replace= --max-columns=int --max-columns-preview
 --max-depth=int --max-filesize= --encoding= --threads=int --hidden -. --no-hidden --no-ignore --no-ignore-vcs --no-ignore-parent
 --no-ignore-dot --no-ignore-global --no-ignore-files --sort= --sortr= --json --vimgrep --column --no-column --heading --no-heading --trim
 --stats --color= --colors= --passthru --line-buffered --block-buffered --mmap --no-mmap --binary --crlf --null-data --one-file-system
 --no-messages --context-separator= --field-match-separator= --field-context-separator= --path-separator= --engine= --auto-hybrid-regex
 --include-zero --stop-on-nonmatch --no-unicode --no-pcre2-unicode --dfa-size-limit= --regex-size-limit= --no-require-git --debug --version -V`;

const HASH = "-b -t -z --binary --text --tag --zero";

const hash = (name: string): Rule => ({
  name,
  flags: HASH,
  operands: "paths",
  allows: [`${name} a b`],
  refuses: [`${name} -c sums`, `${name} --check sums`],
});

/** Commands that show, count, search and compare text. */
export const text: readonly Rule[] = [
  {
    name: "cat",
    flags:
      "-n -b -s -A -E -T -v -e -t --number --number-nonblank --squeeze-blank --show-all --show-ends --show-tabs --show-nonprinting",
    operands: "paths",
    allows: ["cat a.txt", "cat -n a b", "cat -"],
    refuses: ["cat --x a"],
  },
  { name: "tac", flags: "-b -r -s=", operands: "paths", allows: ["tac a"], refuses: ["tac --x a"] },
  { name: "rev", flags: "", operands: "paths", allows: ["rev a"], refuses: ["rev --x"] },
  {
    name: "head",
    flags: "-# -n= -c= -q -v -z --lines= --bytes= --quiet --verbose",
    operands: "paths",
    allows: ["head -5 a", "head -n 20 a b", "head -c100 a"],
    refuses: ["head --x a"],
  },
  {
    name: "tail",
    flags: "-# -n= -c= -f -q -v -z -s= --lines= --bytes= --quiet --verbose",
    operands: "paths",
    allows: ["tail -20 a", "tail -n +5 a", "tail -f log"],
    refuses: ["tail -F a", "tail --follow=name a", "tail --retry a", "tail --pid=1 a"],
  },
  {
    name: "wc",
    flags: "-l -w -c -m -L --lines --words --bytes --chars --max-line-length",
    operands: "paths",
    allows: ["wc -l a b"],
    refuses: ["wc --files0-from=x", "wc --files0-from x"],
  },
  {
    name: "nl",
    flags: "-b= -n= -w=int -s= -v=int -i=int",
    operands: "paths",
    allows: ["nl -b a x"],
    refuses: ["nl --x a"],
  },
  {
    name: "grep",
    flags: GREP,
    operands: "pattern paths",
    pattern_in_flags: ["-e", "--regexp"],
    exclude: ["--exclude-dir={}", "--exclude={}"],
    allows: [
      "grep -rn TODO src",
      "grep -E 'a|b' x",
      "grep -e a -e b x",
      "grep -rnA3 --include='*.ts' foo .",
      "grep -5 x y",
    ],
    refuses: [
      "grep -f patterns x",
      "grep --file=patterns x",
      "grep -R x .",
      "grep --dereference-recursive x .",
      "grep --exclude-from=x y z",
      "grep -rf x y",
    ],
  },
  {
    name: "rg",
    flags: RG,
    operands: "pattern paths",
    pattern_in_flags: ["-e", "--regexp", "--files", "--type-list"],
    before: ["--no-config"],
    exclude: ["--iglob=!**/{}"],
    after: ["--no-follow", "--no-search-zip", "--no-pre"],
    allows: [
      "rg foo",
      "rg -n 'a|b' src -g '*.ts'",
      "rg --files -t ts",
      "rg -e a -e b src",
      "rg -A3 -inC2 x",
      "rg --json x .",
    ],
    refuses: [
      "rg --pre=id x",
      "rg --pre id x",
      "rg --pre-glob=x y",
      "rg --hostname-bin=id x",
      "rg -z x",
      "rg --search-zip x",
      "rg -f p x",
      "rg --file=p x",
      "rg -L x",
      "rg --follow x",
      "rg -izn x",
      "rg --ignore-file=x y",
      "rg --hyperlink-format=x y",
      "rg --generate=man",
    ],
  },
  {
    name: "sort",
    flags:
      "-n -r -u -f -h -V -k= -t= -b -d -g -i -M -R -s -z -c -C -m --numeric-sort --reverse --unique --ignore-case --human-numeric-sort --version-sort --key= --field-separator= --stable --check[=] --sort=",
    operands: "paths",
    allows: ["sort -n a", "sort -t, -k2,2 a", "sort -rnk2 a"],
    refuses: [
      "sort -o out a",
      "sort -oout a",
      "sort --output=out a",
      "sort --compress-program=id a",
      "sort -T /tmp a",
      "sort --files0-from=x",
      "sort -S 1 a",
      "sort --random-source=x a",
      "sort -no out a",
      "sort --compress-prog=id a",
    ],
  },
  {
    name: "uniq",
    flags:
      "-c -d -D -i -u -z -f=int -s=int -w=int --count --repeated --unique --ignore-case --skip-fields=int --skip-chars=int --check-chars=int",
    operands: "paths",
    max_operands: 1,
    allows: ["uniq -c a"],
    refuses: ["uniq a out", "uniq -- a out"],
  },
  {
    name: "cut",
    flags:
      "-b= -c= -d= -f= -s -z -n --bytes= --characters= --delimiter= --fields= --only-delimited --complement --output-delimiter=",
    operands: "paths",
    allows: ["cut -d: -f1 a"],
    refuses: ["cut --x a"],
  },
  {
    name: "tr",
    flags: "-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1",
    operands: "text",
    max_operands: 2,
    allows: ["tr a-z A-Z"],
    refuses: ["tr --x a"],
  },
  {
    name: "paste",
    flags: "-d= -s -z --delimiters= --serial",
    operands: "paths",
    allows: ["paste -sd, a"],
    refuses: ["paste --x a"],
  },
  {
    name: "join",
    flags: "-1=int -2=int -t= -a=int -v=int -o= -e= -i -j=int --header --check-order --nocheck-order",
    operands: "paths",
    max_operands: 2,
    allows: ["join -t, a b"],
    refuses: ["join --x a b"],
  },
  {
    name: "comm",
    flags: "-1 -2 -3 -z --total --check-order --nocheck-order --output-delimiter=",
    operands: "paths",
    max_operands: 2,
    allows: ["comm -12 a b"],
    refuses: ["comm --x a b"],
  },
  {
    name: "cmp",
    flags: "-b -l -s -n= -i= --bytes= --print-bytes --verbose --quiet --silent",
    operands: "paths",
    max_operands: 2,
    allows: ["cmp a b"],
    refuses: ["cmp --x a b"],
  },
  {
    name: "diff",
    flags: `-# -u -U=int -c -C=int -q -r -N -a -b -B -w -i -y -s -t -T -E -Z -x= -I= -W=int -p -d -e -n --unified[=] --brief --recursive --new-file --text
     --ignore-case --ignore-all-space --ignore-blank-lines --ignore-space-change --side-by-side --suppress-common-lines --color[=] --minimal
     --exclude= --report-identical-files --label= --width=int --strip-trailing-cr`,
    operands: "paths",
    max_operands: 2,
    exclude: ["--exclude={}"],
    after: ["--no-dereference"],
    allows: ["diff -u a b", "diff -rq a b"],
    refuses: [
      "diff --to-file=x a",
      "diff --from-file=x a",
      "diff -X x a b",
      "diff --exclude-from=x a b",
      "diff -l a b",
      "diff --paginate a b",
      "diff -F x a b -S y",
    ],
  },
  {
    name: "column",
    flags: "-t -s= -o= -c=int -n= -N= -J -x -R= -H= --table --separator= --output-separator= --json",
    operands: "paths",
    allows: ["column -t -s, a"],
    refuses: ["column --x a"],
  },
  { name: "fold", flags: "-b -s -w=int -#", operands: "paths", allows: ["fold -w 80 a"], refuses: ["fold --x a"] },
  { name: "fmt", flags: "-c -s -u -w=int -p= -#", operands: "paths", allows: ["fmt -w 80 a"], refuses: ["fmt --x a"] },
  { name: "expand", flags: "-i -t=", operands: "paths", allows: ["expand -t4 a"], refuses: ["expand --x a"] },
  {
    name: "od",
    flags: "-A= -t= -N= -j= -w[] -v -c -x -d -o -b -a -i",
    operands: "paths",
    allows: ["od -c a", "od -A x -t x1z -N 16 a"],
    refuses: ["od --x a"],
  },
  {
    name: "xxd",
    flags: "-g=int -l= -s= -c=int -p -u -b -i -e",
    operands: "paths",
    max_operands: 1,
    allows: ["xxd -l 16 a"],
    refuses: ["xxd -r a", "xxd a out", "xxd -r -p a b"],
  },
  {
    name: "base64",
    flags: "-d -i -w=int --decode --ignore-garbage --wrap=int",
    operands: "paths",
    max_operands: 1,
    allows: ["base64 -w0 a"],
    refuses: ["base64 -o x a", "base64 --output=x a"],
  },
  hash("md5sum"),
  hash("sha1sum"),
  hash("sha256sum"),
  hash("sha512sum"),
  {
    name: "sed",
    flags: "-n -E -r -s -z --quiet --silent",
    operands: "pattern paths",
    need_one_of: ["-n", "--quiet", "--silent"],
    first_operand: /^\s*(\d+|\$)(\s*,\s*(\d+|\$|\+\d+))?\s*p(\s*;\s*(\d+|\$)(\s*,\s*(\d+|\$|\+\d+))?\s*p)*\s*$/,
    after: ["--sandbox"],
    allows: ["sed -n 10,20p a", "sed -n '5p' a b", "sed -n '$p' a", "sed -n '1p;5,9p' a"],
    refuses: [
      "sed s/a/b/ a",
      "sed -n e a",
      "sed -i s/a/b/ a",
      "sed -n 's/x/id/e' a",
      "sed -n 'w out' a",
      "sed -n 1,5p\\;e a",
      "sed -nf script a",
      "sed -n -e 1p a",
      "sed -n '1r /etc/passwd' a",
      "sed 10,20p a",
    ],
  },
  {
    name: "jq",
    flags:
      "-r -c -s -n -e -S -M -C -R -j -a --raw-output --compact-output --slurp --null-input --exit-status --sort-keys --monochrome-output --color-output --raw-input --join-output --ascii-output --tab --indent=int",
    operands: "pattern paths",
    no_dashes: true,
    first_operand_not: /\b(import|include|modulemeta|get_search_list|input_filename)\b/,
    allows: ["jq .a x.json", "jq -r '.[] | .name' x.json", "jq -n 1+1"],
    refuses: [
      "jq -f prog x",
      "jq --from-file p x",
      "jq -L /etc . x",
      "jq --rawfile a /etc/passwd .",
      "jq --slurpfile a b .",
      'jq \'import "a" as $x {search:"/etc"}; .\' x',
      "jq --args . x",
      "jq -- . -L/etc",
    ],
  },
];
