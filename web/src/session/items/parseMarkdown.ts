// Turns Markdown into React elements, in four steps of the syntax-tree packages: text, tree of Markdown, tree of HTML,
// elements.
//
// Invariant: HTML in the text becomes text, never an element. What is left is cleaned by an allow-list, and every element
// is drawn by a component of the caller's if there is one for its name.
import { sanitize } from "hast-util-sanitize";
import type { Components } from "hast-util-to-jsx-runtime";
import { toJsxRuntime } from "hast-util-to-jsx-runtime";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { toHast } from "mdast-util-to-hast";
import { gfm } from "micromark-extension-gfm";
import type { ReactElement } from "react";
import { Fragment, jsx, jsxs } from "react/jsx-runtime";
import remend from "remend";

import { shown } from "../../ui/shown";

const SYNTAX = { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] };
const TO_HTML = { handlers: { html: (_: unknown, node: { value: string }) => ({ type: "text" as const, value: node.value }) } };

/** Nothing is closed that the page would not draw: HTML stays text, and there are no formulas. */
const CLOSED = { htmlTags: false, katex: false };

/** With `growing`, marks that are still open are closed, since more of the text may come. */
export function parseMarkdown(text: string, growing: boolean, components: Partial<Components>): ReactElement {
  const tree = sanitize(toHast(fromMarkdown(growing ? remend(text, CLOSED) : text, SYNTAX), TO_HTML));
  nameHidden(tree);
  return toJsxRuntime(tree, { Fragment, jsx, jsxs, components, ignoreInvalidStyle: true, passKeys: true, passNode: false });
}

interface TreeNode {
  type: string;
  value?: string;
  properties?: Record<string, unknown>;
  children?: TreeNode[];
}

/** A character may also be written as `&#x202E;`, which is one only after the text was parsed. */
function nameHidden(node: TreeNode): void {
  if (node.type === "text" && node.value !== undefined) {
    node.value = shown(node.value);
  }
  if (node.properties !== undefined) {
    node.properties = Object.fromEntries(Object.entries(node.properties).map(([name, value]) => [name, withoutHidden(value)]));
  }
  node.children?.forEach(nameHidden);
}

/** The value of an attribute: a text, several, or something else. */
function withoutHidden(value: unknown): unknown {
  return Array.isArray(value) ? value.map(withoutHidden) : typeof value === "string" ? shown(value) : value;
}
