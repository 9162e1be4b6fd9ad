// The server's policy for the page (crates/server/src/web_assets.rs), for tests: the DOM that they run in knows neither
// Content-Security-Policy nor Trusted Types, so whatever the browser would refuse throws here.

function refuse(what: string): never {
  throw new TypeError(`The page's policy forbids ${what}: the browser would refuse it.`);
}

function forbidProperty(prototype: object | undefined, name: string, what: string): void {
  const property = prototype === undefined ? undefined : Object.getOwnPropertyDescriptor(prototype, name);
  if (prototype !== undefined && property !== undefined) {
    Object.defineProperty(prototype, name, { ...property, set: () => refuse(what) });
  }
}

function forbidMethod(owner: object | undefined, name: string, what: string): void {
  if (owner !== undefined && name in owner) {
    Object.defineProperty(owner, name, { configurable: true, writable: true, value: () => refuse(what) });
  }
}

if (typeof document !== "undefined") {
  const { Element: element, ShadowRoot: shadowRoot, Document: documents, Range: range, DOMParser: parser } = window;
  for (const prototype of [element.prototype, window.HTMLElement.prototype, shadowRoot.prototype]) {
    for (const name of ["innerHTML", "outerHTML"]) {
      forbidProperty(prototype, name, `setting ${name}`);
    }
    for (const name of ["insertAdjacentHTML", "setHTMLUnsafe"]) {
      forbidMethod(prototype, name, name);
    }
  }
  for (const name of ["write", "writeln", "execCommand"]) {
    forbidMethod(documents.prototype, name, `document.${name}`);
    forbidMethod(document, name, `document.${name}`);
  }
  forbidMethod(range.prototype, "createContextualFragment", "createContextualFragment");
  forbidMethod(parser.prototype, "parseFromString", "parseFromString");
  forbidProperty(window.HTMLIFrameElement.prototype, "srcdoc", "setting srcdoc");
  for (const name of ["src", "text", "textContent", "innerText"]) {
    forbidProperty(window.HTMLScriptElement.prototype, name, `setting a script's ${name}`);
  }

  // Handlers as attributes are script. Styles as attributes are refused too, but here every style is set as one.
  const setAttribute = element.prototype.setAttribute;
  element.prototype.setAttribute = function (name, value) {
    if (/^(?:srcdoc|on.*)$/i.test(name)) {
      refuse(`the attribute ${name}`);
    }
    setAttribute.call(this, name, value);
  };
}
