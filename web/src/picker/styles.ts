// Where react-select's own styles go: a sheet made by script, for the page's policy allows no style elements.
import createCache from "@emotion/cache";

const sheet = typeof CSSStyleSheet === "undefined" ? null : new CSSStyleSheet();

function adopt(rule: string): void {
  if (sheet === null) {
    return;
  }
  if (!document.adoptedStyleSheets.includes(sheet)) {
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  }
  sheet.insertRule(rule, sheet.cssRules.length);
}

export const pickerStyles = createCache({ key: "picker" });
pickerStyles.sheet.insert = adopt;
