// A page elsewhere as a card: its picture, which the server fetched and keeps, its title and where it is.
//
// Invariant: the page loads nothing from elsewhere. What is pressed opens in a tab of its own, which learns nothing of this one;
// and only an address with https is something to press.
import type { ReactNode } from "react";
import { useState } from "react";

import { Icon } from "../../ui/Icon";
import { inOneLine } from "../../ui/shown";
import type { Output } from "../../wire/names";
import { nameOf } from "./outputWords";

interface EmbedCardProps {
  output: Output;
  /** The picture's bytes, once the page holds them. */
  source: string | null;
}

export function EmbedCard({ output, source }: EmbedCardProps) {
  const [broken, setBroken] = useState<string | null>(null);
  const { title, author, provider } = output;
  const address = addressOf(output.url);
  const by = [author, provider].flatMap((words) => (words ? [inOneLine(words)] : [])).join(" · ");
  const inside = (
    <>
      <span className="embed-picture">{source !== null && broken !== source ? <img src={source} alt="" onError={() => setBroken(source)} /> : <Icon name="globe" />}</span>
      <span className="embed-words">
        <span className="embed-title" dir="auto">
          {inOneLine(title ?? "") || nameOf(output)}
        </span>
        <span className="embed-line" dir="auto">
          {by || "\u00A0"}
        </span>
        <span className="embed-line">{address === null ? <NoLink url={output.url ?? ""} /> : `${address.host} ↗`}</span>
      </span>
    </>
  );
  return address === null ? (
    <div className="embed">{inside}</div>
  ) : (
    <a className="embed" href={address.href} target="_blank" rel="noopener noreferrer">
      {inside}
      <span className="sr-only">(opens in a new tab)</span>
    </a>
  );
}

function NoLink({ url }: { url: string }): ReactNode {
  return url === "" ? "Its address is not known" : `Not a link that can be opened: ${inOneLine(url)}`;
}

/** Null for whatever a browser would not open over a secure connection; nobody's name or password goes along. */
export function addressOf(url: string | null | undefined): URL | null {
  const address = url ? URL.parse(url) : null;
  return address !== null && address.protocol === "https:" && address.username === "" && address.password === "" ? address : null;
}
