import { type ChildProcess, spawn } from "node:child_process";

/** Ends process groups when the server is gone, however it went: it waits on a pipe that only the server's death can close. */
export interface Watchdog {
  watch(group: number): void;
  unwatch(group: number): void;
  close(): void;
}

const SCRIPT = `
trap '' TERM INT HUP QUIT PIPE
groups=' '
while read -r word group; do
  case $word in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
  esac
done
for group in $groups; do kill -KILL "-$group" 2>/dev/null; done
[ -e "$1" ] && : > "$1.died"
`;

/** One small shell for the whole server, started with the first child. If `mark` is still there when it ends, it notes the time beside it. */
export function createWatchdog(mark: string): Watchdog {
  let dog: ChildProcess | undefined;
  const tell = (line: string) => {
    if (!dog) {
      dog = spawn("/bin/sh", ["-c", SCRIPT, "sh", mark], {
        stdio: ["pipe", "ignore", "ignore"],
        detached: true,
        env: {},
        cwd: "/",
      });
      // Without it children still live in groups that we end ourselves; only our own sudden death is not covered.
      dog.on("error", () => {});
      dog.stdin?.on("error", () => {});
      dog.unref();
      (dog.stdin as unknown as { unref?(): void } | null)?.unref?.();
    }
    dog.stdin?.write(line);
  };
  return {
    watch: (group) => tell(`+ ${group}\n`),
    unwatch: (group) => tell(`- ${group}\n`),
    close() {
      dog?.stdin?.end();
      dog = undefined;
    },
  };
}
