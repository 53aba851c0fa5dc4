import { type ChildProcess, spawn } from "node:child_process";
import { basename } from "node:path";

/** Ends process groups when the server is gone, however it went: it waits on a pipe that only the server's death can close. */
export interface Watchdog {
  /** For the environment of a child that runs before it can be watched, or may leave its group: by this it is found. */
  readonly brand: Readonly<Record<string, string>>;
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
    .) calm=1 ;;
  esac
done
for group in $groups; do kill -KILL "-$group" 2>/dev/null; done
[ -e "$1" ] && : > "$1.died"
[ "$calm" ] && exit
for pause in 0 0.5; do
  sleep $pause
  for file in $(grep -lsazxF "$2" /proc/[0-9]*/environ); do
    pid=\${file#/proc/}
    kill -KILL "\${pid%/environ}" 2>/dev/null
  done
done
`;

const BRAND = "LLMC_SERVER";

/**
 * One small shell for the whole server, started with the first child. If `mark` is still there when it ends, it notes the time beside it.
 * A server can be killed after it started a child and before it told of it, and a child can leave its group: after a sudden death, all that
 * carry its brand are ended too, and once more for one that was just about to become a program.
 */
export function createWatchdog(mark: string): Watchdog {
  const id = basename(mark);
  let dog: ChildProcess | undefined;
  const tell = (line: string) => {
    if (!dog) {
      dog = spawn("/bin/sh", ["-c", SCRIPT, "sh", mark, `${BRAND}=${id}`], {
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
    brand: { [BRAND]: id },
    watch: (group) => tell(`+ ${group}\n`),
    unwatch: (group) => tell(`- ${group}\n`),
    close() {
      dog?.stdin?.end(".\n");
      dog = undefined;
    },
  };
}
