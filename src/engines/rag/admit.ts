/** Folders that hold other people's or machines' work. */
const FOREIGN = new Set(
  ".git .hg .svn .jj node_modules bower_components jspm_packages .venv venv __pycache__ .tox .nox .mypy_cache .pytest_cache .ruff_cache .gradle .next .nuxt .turbo .parcel-cache .yarn .pnpm-store .terraform .direnv .eggs vendor third_party Pods DerivedData .llmc".split(
    " ",
  ),
);
const LOCK =
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|composer\.lock|Gemfile\.lock|Cargo\.lock|poetry\.lock|uv\.lock|Pipfile\.lock|go\.sum|flake\.lock|deno\.lock)$/;
/** Not worth a terms' table: pictures, archives, programs, maps. */
const BINARY_NAME =
  /\.(png|jpe?g|gif|webp|avif|ico|bmp|tiff?|pdf|zip|gz|tgz|bz2|xz|zst|7z|rar|jar|war|class|pyc|pyo|o|a|so|dylib|dll|exe|bin|wasm|node|woff2?|ttf|otf|eot|mp[34]|mov|avi|webm|ogg|wav|flac|sqlite3?|db|parquet|npy|npz|pt|onnx|safetensors|map|snap)$/i;
/** What holds keys by its name is not for an index. */
const SECRET =
  /(^|\/)(\.env(\.[^/]*)?|\.netrc|\.npmrc|\.pypirc|\.htpasswd|id_(rsa|dsa|ecdsa|ed25519)[^/]*|credentials[^/]*\.(json|ya?ml|toml|ini)|credentials|[^/]*\.(pem|key|p12|pfx|jks|keystore|kdbx))$/i;
const MINIFIED_NAME = /[.-]min\.(js|css|mjs|cjs)$/i;
const SNIFF = 8 * 1024;
/** Lines this long on average are not for reading. */
const LONG_LINES = 400;

export type Skip = "binary" | "minified" | "lock file" | "secret" | "too large" | "unreadable";

export function isForeignFolder(name: string): boolean {
  return FOREIGN.has(name);
}

/** Why a file is left out by its name alone. */
export function skipByName(path: string): Skip | undefined {
  if (BINARY_NAME.test(path)) return "binary";
  if (LOCK.test(path)) return "lock file";
  if (SECRET.test(path) && !/\.env\.(example|sample|template)$/i.test(path)) return "secret";
  return MINIFIED_NAME.test(path) ? "minified" : undefined;
}

export function skipByContent(bytes: Buffer): Skip | undefined {
  if (bytes.subarray(0, SNIFF).includes(0)) return "binary";
  if (bytes.length < SNIFF) return undefined;
  let lines = 1;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) lines++;
  return bytes.length / lines > LONG_LINES ? "minified" : undefined;
}
