// Notes which lock file the installed packages belong to. npm runs this after every install, whoever asked for it, so
// that crates/server/build.rs, which computes the same number, installs only when the lock file has changed.
import { readFileSync, writeFileSync } from "node:fs";

/** FNV-1a, 64 bits, in lower-case hex: small enough to be written twice, and nothing here is secret. */
function fnv1a64(bytes) {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(16).padStart(16, "0");
}

const lock = readFileSync(new URL("package-lock.json", import.meta.url));
writeFileSync(new URL("node_modules/.throughline-stamp", import.meta.url), fnv1a64(lock));
