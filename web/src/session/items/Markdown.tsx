// The agent's words, which are Markdown, as text that reads well while it still arrives.
//
// Invariant: what an agent writes loads nothing and runs nothing. HTML in it is shown as it was written, pictures are
// named and not fetched, and a link tells where it leads. Only the elements below are ever made.
// What would make the parser or the browser choke is not parsed: it stands there as plain text, and says so.
import type { Components } from "hast-util-to-jsx-runtime";
import type { ComponentProps, ReactNode } from "react";
import { createContext, isValidElement, memo, use, useMemo, useState, useTransition } from "react";

import { Link } from "../../ui/Link";
import { LongText } from "../../ui/LongText";
import { shown } from "../../ui/shown";
import { appletAt, appletHref } from "../applets/address";
import { AppletsContext } from "../applets/AppletsContext";
import { FoundContext } from "../find/found";
import { placesOf, wordsOf } from "../find/words";
import { CodeBlock } from "./CodeBlock";
import { createGrowingParts } from "./growingParts";
import type { Part, PlainReason } from "./markdownParts";
import { parseMarkdown } from "./parseMarkdown";
import { shownOf } from "./shownParts";
import "./Markdown.css";

/** With each press so many times as much as at first is drawn: the page does not answer while a browser lays it out. */
const MORE = 4;

interface MarkdownProps {
  text: string;
  /** More of it may come: marks that are open are closed meanwhile, so that nothing changes its look at the end. */
  growing: boolean;
  /** The turn that it is of, for what is looked for in it. */
  turn?: number | undefined;
}

export const Markdown = memo(function Markdown({ text, growing, turn }: MarkdownProps) {
  const [cut] = useState(createGrowingParts);
  const { parts, depths } = useMemo(() => cut(text), [cut, text]);
  const [times, setTimes] = useState(1);
  // Part by part, so that the page answers meanwhile.
  const [drawing, drawMore] = useTransition();
  const found = use(FoundContext);
  const sought = found !== null && found.turn === turn ? found : null;
  const { beginning, left, end } = useMemo(() => {
    let count = times;
    let some = shownOf(parts, count);
    // What is looked for is drawn.
    while (some.left > 0 && sought !== null && !holds(some.beginning, sought.query, sought.exact) && holds(parts, sought.query, sought.exact)) {
      count *= 2;
      some = shownOf(parts, count);
    }
    return some;
  }, [parts, times, sought]);
  return (
    <DepthsContext value={depths}>
      <div className="prose-parts">
        {beginning.map((part, index) => (
          <OnePart key={index} part={part} growing={growing && end.length === 0 && index === beginning.length - 1} />
        ))}
        {left > 0 && (
          <p className="text-[0.8125rem] text-soft">
            {left.toLocaleString("en")} characters are left out here.{" "}
            <button type="button" className="small-button mx-0!" disabled={drawing} onClick={() => drawMore(() => setTimes(times + MORE))}>
              {drawing ? "Drawing…" : "Show more"}
            </button>
          </p>
        )}
        {end.map((part) => (
          <OnePart key={`end ${parts.length}`} part={part} growing={growing} />
        ))}
      </div>
    </DepthsContext>
  );
});

function holds(parts: readonly Part[], query: string, exact: boolean): boolean {
  const words = wordsOf(query, exact);
  return parts.some(({ text }) => placesOf(text, words, exact).length > 0);
}

const WHY: Readonly<Record<PlainReason, string>> = {
  long: "it is too long to be drawn as Markdown",
  nested: "too much is within one another to be drawn as Markdown",
};

const OnePart = memo(function OnePart({ part, growing }: { part: Part; growing: boolean }) {
  switch (part.kind) {
    case "markdown":
      return <Parsed text={part.parsed ?? part.text} growing={growing} />;
    case "code":
      return <CodeBlock language={part.language} code={shown(part.text)} />;
    case "plain":
      return (
        <div>
          <p className="text-[0.8125rem] text-soft">Plain text: {WHY[part.why]}.</p>
          <LongText text={part.text} label="Plain text">
            {(words) => (
              <p className="verbatim" dir="auto">
                {words}
              </p>
            )}
          </LongText>
        </div>
      );
  }
}, isSamePart);

/** The text is cut anew with every word that comes; parts that stay the same are not drawn again. */
function isSamePart(before: { part: Part; growing: boolean }, after: { part: Part; growing: boolean }): boolean {
  return before.growing === after.growing && before.part.kind === after.part.kind && before.part.text === after.part.text && parsedOf(before.part) === parsedOf(after.part);
}

function parsedOf(part: Part): string | undefined {
  return part.kind === "markdown" ? part.parsed : undefined;
}

function Parsed({ text, growing }: { text: string; growing: boolean }) {
  return (
    <div className="prose" dir="auto">
      {parseMarkdown(shown(text), growing, COMPONENTS)}
    </div>
  );
}

type Tag = "p" | "ul" | "ol" | "li" | "blockquote" | "hr" | "strong" | "em" | "del" | "thead" | "tbody" | "tr" | "sup" | "section";

/** The element alone, without any of its attributes but a list's first number. */
function plain<T extends Tag>(Name: T) {
  return function Plain({ children, ...rest }: { children?: ReactNode; start?: number }) {
    const Element = Name as "ol";
    return rest.start === undefined ? <Element>{children}</Element> : <Element start={rest.start}>{children}</Element>;
  };
}

/** The depths of a text's headings, as `2,3`. */
const DepthsContext = createContext("");

/** The page's own headings are h1 and h2; those of a text go below them, without a gap whichever signs they have. */
function heading(level: 1 | 2 | 3 | 4 | 5 | 6) {
  return function Heading({ children }: { children?: ReactNode }) {
    const rank = use(DepthsContext).split(",").indexOf(String(level));
    return (
      <p role="heading" aria-level={Math.min(Math.max(rank, 0) + 3, 6)} className={`prose-heading prose-heading-${Math.min(level, 4)}`}>
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
  const { session } = use(AppletsContext);
  // How agents are told to write a link that opens an applet beside the conversation.
  const applet = session !== null && href?.startsWith("?") ? appletAt(href) : null;
  if (session !== null && applet !== null) {
    return <Link href={appletHref(session, { ...applet, past: null })}>{children}</Link>;
  }
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
} as Partial<Components>;
