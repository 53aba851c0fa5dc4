/** Commands that look and change nothing. Each has an argument policy. */
export const READERS: readonly string[] = words(`
  base64 basename cat cmp column comm cut date df diff dirname du echo expand false file find fmt fold free git
  grep head hostname id join jq ls md5sum nl nproc od paste printf pwd readlink realpath rev rg sed seq sha1sum
  sha256sum sha512sum sleep sort stat tac tail tr tree true uname uniq uptime wc which whoami xxd`);

/** Commands that run what the project says. They need a sandbox. */
export const PROJECT_CODE: readonly string[] = words(`
  bun cargo cmake composer corepack deno dotnet eslint go gradle java javac jest just make mvn mypy ninja node
  npm npx php pip pip3 pnpm poetry prettier pyright pytest python python3 ruby bundle rake ruff rustc swift tox
  tsc tsx uv uvx vitest yarn`);

/** Programs that take commands as text: only when the operator lists them. */
export const SHELLS: readonly string[] = words("sh bash dash zsh ksh fish csh tcsh ash rbash pwsh");

/** Programs whose business is to run another program, or to hold a terminal: no argument policy can make them harmless. */
export const NEVER: readonly string[] = words(`
  xargs env nohup timeout nice ionice setsid watch script ssh scp sftp less more man vim vi nvim emacs nano sudo
  su doas chroot unshare nsenter bwrap systemd-run parallel strace ltrace gdb expect screen tmux at batch
  crontab flock stdbuf time setpriv runuser chrt taskset prlimit busybox exec eval source`);

function words(text: string): string[] {
  return text.split(/\s+/).filter(Boolean);
}
