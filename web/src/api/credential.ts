// How this browser shows who it is: a cookie that scripts cannot read, and a proof that only this origin's page has.
//
// Invariant: the one-time code leaves the address bar before anything else happens, so that it is in no history entry,
// screenshot or copied link.
import type { Http } from "./http";

const PROOF_KEY = "throughline.proof";
const CODE_FIELD = "code";
/** A place in the session that the link leads to, such as `t7`: what the address says once the code is gone. */
const PLACE_FIELD = "at";

export function storedProof(): string | null {
  return localStorage.getItem(PROOF_KEY);
}

export type SignIn =
  | { kind: "signed_in" }
  /** There is no credential here, or it is not in force any more. */
  | { kind: "signed_out" }
  /** The code was used before, or is too old. */
  | { kind: "code_refused" }
  | { kind: "unreachable" };

export function hasCode(): boolean {
  return fragmentFields().has(CODE_FIELD);
}

/** Takes the code out of the address, if there is one. */
export function takeCode(): string | null {
  const fields = fragmentFields();
  const code = fields.get(CODE_FIELD);
  if (code === null) {
    return null;
  }
  fields.delete(CODE_FIELD);
  const place = fields.get(PLACE_FIELD);
  const rest = place !== null && /^t\d+$/.test(place) ? `#${place}` : fields.size > 0 ? `#${fields.toString()}` : "";
  history.replaceState(history.state, "", location.pathname + location.search + rest);
  return code;
}

/**
 * Finds out whether this browser is signed in, with a code if it came with one. A code that came only to lead somewhere
 * is discarded by a browser that is signed in: it is not signed in twice, and nobody else is with what it left.
 */
export async function signIn(http: Http, code: string | null, purpose: "to_sign_in" | "to_lead" = "to_sign_in"): Promise<SignIn> {
  if (code !== null && purpose === "to_lead") {
    const known = await checkProof(http);
    if (known.kind === "signed_in") {
      // What fails here, time mends: codes are good for minutes.
      await http.discardCode(code);
      return known;
    }
  }
  if (code !== null) {
    const answer = await http.exchangeCode(code);
    if (answer.ok) {
      localStorage.setItem(PROOF_KEY, answer.value.proof);
      return { kind: "signed_in" };
    }
    if (answer.failure.kind === "unreachable") {
      return { kind: "unreachable" };
    }
    // An old link in a browser that is signed in already does no harm.
    const known = await checkProof(http);
    return known.kind === "signed_in" ? known : { kind: "code_refused" };
  }
  return checkProof(http);
}

async function checkProof(http: Http): Promise<SignIn> {
  if (storedProof() === null) {
    return { kind: "signed_out" };
  }
  const answer = await http.whoami();
  if (answer.ok) {
    return { kind: "signed_in" };
  }
  return answer.failure.kind === "unreachable" ? { kind: "unreachable" } : { kind: "signed_out" };
}

/** Calls back when another tab of this browser signs in. */
export function onProofStored(callback: () => void): void {
  window.addEventListener("storage", (event) => {
    if (event.key === PROOF_KEY && event.newValue !== null) {
      callback();
    }
  });
}

function fragmentFields(): URLSearchParams {
  return new URLSearchParams(location.hash.slice(1));
}
