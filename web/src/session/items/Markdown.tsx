// The agent's words, which are Markdown, as text that reads well while it still arrives.
//
// Invariant: what an agent writes loads nothing and runs nothing. HTML in it is shown as it was written, pictures are
// named and not fetched, and a link tells where it leads. Only the elements below are ever made.
import type { ComponentProps, ReactNode } from "react";
import { isValidElement, memo } from "react";
import type { Components } from "streamdown";
import { defaultRehypePlugins, defaultRemarkPlugins, Streamdown } from "streamdown";

import { shown } from "../../ui/shown";
import { CodeBlock } from "./CodeBlock";
import { parted } from "./parted";

interface MarkdownProps {
  text: string;
  /** More of it may come: marks that are open are closed meanwhile, so that nothing changes its look at the end. */
  growing: boolean;
}

export const Markdown = memo(function Markdown({ text, growing }: MarkdownProps) {
  return (
    <Streamdown
      className="prose"
      dir="auto"
      components={COMPONENTS}
      rehypePlugins={REHYPE}
      remarkPlugins={REMARK}
      parseIncompleteMarkdown={growing}
      controls={false}
      linkSafety={NO_DIALOG}
    >
      {shown(parted(text))}
    </Streamdown>
  );
});

interface DrawnNode {
  type: string;
  value?: string;
  children?: DrawnNode[];
}

/** A character may also be written as `&#x202E;`, which is one only after the text was parsed. */
function nameHidden() {
  const name = (node: DrawnNode): void => {
    if (node.type === "text" && node.value !== undefined) {
      node.value = shown(node.value);
    }
    node.children?.forEach(name);
  };
  return name;
}

// Without the plugin that parses HTML: it stays text. Whatever else comes is cleaned after it became elements.
const REHYPE = [defaultRehypePlugins["sanitize"], nameHidden].filter((plugin) => plugin !== undefined);
const REMARK = [defaultRemarkPlugins["gfm"]].filter((plugin) => plugin !== undefined);
const NO_DIALOG = { enabled: false };

type Tag = "p" | "ul" | "ol" | "li" | "blockquote" | "hr" | "strong" | "em" | "del" | "thead" | "tbody" | "tr" | "sup" | "section";

/** The element alone, without the classes that the library would give it. */
function plain<T extends Tag>(Name: T) {
  return function Plain({ children, ...rest }: ComponentProps<"div"> & { node?: unknown; start?: number }) {
    const Element = Name as "ol";
    return rest.start === undefined ? <Element>{children}</Element> : <Element start={rest.start}>{children}</Element>;
  };
}

/** The page's own headings are h1 to h3; those of an agent go below them. */
function heading(level: 1 | 2 | 3 | 4 | 5 | 6) {
  return function Heading({ children }: { children?: ReactNode }) {
    return (
      <p role="heading" aria-level={Math.min(level + 2, 6)} className={`prose-heading prose-heading-${Math.min(level, 4)}`}>
        {children}
      </p>
    );
  };
}

function cell(Name: "th" | "td") {
  return function Cell({ children, style }: ComponentProps<"td">) {
    return <Name style={style?.textAlign === undefined ? undefined : { textAlign: style.textAlign }}>{children}</Name>;
  };
}

function Table({ children }: { children?: ReactNode }) {
  return (
    <div className="prose-table" tabIndex={0} role="region" aria-label="Table">
      <table>{children}</table>
    </div>
  );
}

function Code({ children }: { children?: ReactNode }) {
  return <code dir="auto">{children}</code>;
}

function Fence({ children }: { children?: ReactNode }) {
  const inner = isValidElement<{ className?: string; children?: ReactNode }>(children) ? children.props : { children };
  const language = /language-([^\s]+)/.exec(inner.className ?? "")?.[1] ?? null;
  return <CodeBlock language={language} code={textOf(inner.children).replace(/\n$/, "")} />;
}

function Anchor({ href, children }: { href?: string | undefined; children?: ReactNode }) {
  const target = targetOf(href ?? "");
  if (target === null) {
    // A path, or a kind of address that the page does not open.
    const words = textOf(children);
    return (
      <span>
        {children}
        {href !== undefined && href !== words && href !== "" && <span className="prose-target"> ({hrefWords(href)})</span>}
      </span>
    );
  }
  const said = textOf(children).includes(target.shown);
  return (
    <a href={target.href} target="_blank" rel="noopener noreferrer nofollow" title={target.href}>
      {children}
      {!said && <span className="prose-target"> ({target.shown})</span>}
    </a>
  );
}

/** Named, not fetched, and no link either: it may stand within one. */
function Picture({ src, alt }: { src?: unknown; alt?: string | undefined }) {
  const target = typeof src === "string" ? targetOf(src) : null;
  return (
    <span className="prose-picture" title={target?.href}>
      [Picture{alt ? ` “${alt}”` : ""}, not loaded{target !== null && `: ${target.shown}`}]
    </span>
  );
}

function Checkbox({ checked }: { checked?: boolean | undefined }) {
  return <span className="prose-checkbox" role="img" aria-label={checked ? "Done" : "To do"} data-checked={checked === true} />;
}

/** Where a link really leads: its host, which is written so that look-alike letters show; null if it is not opened. */
function targetOf(href: string): { href: string; shown: string } | null {
  try {
    const url = new URL(href);
    switch (url.protocol) {
      case "http:":
      case "https:":
        return { href: url.href, shown: url.host };
      case "mailto:":
        return { href: url.href, shown: url.pathname };
      default:
        return null;
    }
  } catch {
    return null;
  }
}

function hrefWords(href: string): string {
  try {
    return shown(decodeURI(href));
  } catch {
    return shown(href);
  }
}

function textOf(children: ReactNode): string {
  if (Array.isArray(children)) {
    return children.map(textOf).join("");
  }
  if (isValidElement<{ children?: ReactNode }>(children)) {
    return textOf(children.props.children);
  }
  return typeof children === "string" || typeof children === "number" ? String(children) : "";
}

const COMPONENTS = {
  p: plain("p"),
  ul: plain("ul"),
  ol: plain("ol"),
  li: plain("li"),
  blockquote: plain("blockquote"),
  hr: () => <hr />,
  strong: plain("strong"),
  em: plain("em"),
  del: plain("del"),
  sup: plain("sup"),
  section: plain("section"),
  h1: heading(1),
  h2: heading(2),
  h3: heading(3),
  h4: heading(4),
  h5: heading(5),
  h6: heading(6),
  table: Table,
  thead: plain("thead"),
  tbody: plain("tbody"),
  tr: plain("tr"),
  th: cell("th"),
  td: cell("td"),
  a: Anchor,
  img: Picture,
  input: Checkbox,
  pre: Fence,
  code: Code,
} as Components;
