// The settings, a page a subject. What the server was started with is shown and never set here: each value has the line of
// `config.toml` that changes it. What this browser keeps for itself is set here.
import { useCallback, useEffect, useRef } from "react";

import { useHttp } from "../app/AppContext";
import { RememberedList } from "../remembered/RememberedList";
import { Icon } from "../ui/Icon";
import { Link } from "../ui/Link";
import { AgentsSection } from "./AgentsSection";
import { ConfigValues } from "./ConfigValues";
import { DevicesSection } from "./DevicesSection";
import { GeneralSection } from "./GeneralSection";
import type { SectionName } from "./sections";
import { sectionPath, SECTIONS } from "./sections";
import { ServerSection } from "./ServerSection";
import { useAsked } from "./useAsked";

export default function SettingsPage({ section }: { section: SectionName }) {
  const http = useHttp();
  const ask = useCallback(() => http.settings(), [http]);
  const settings = useAsked(ask);
  const nav = useRef<HTMLElement>(null);
  // Where the pages are a row that is wider than the screen, the open one is in sight.
  useEffect(() => {
    nav.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [section]);
  const title = SECTIONS.find(({ name }) => name === section)?.title ?? "";
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <header className="safe-top border-b border-rule">
        <div className="beside-scrollbar">
          <div className="mx-auto flex w-full max-w-4xl items-center gap-1 px-1 py-1 md:px-8 md:py-3">
            <Link href="/" aria-label="All sessions" className="inline-flex size-11 items-center justify-center rounded-lg text-soft hover:bg-press hover:text-ink md:hidden">
              <Icon name="back" />
            </Link>
            <h1 className="text-lg font-semibold tracking-tight">Settings</h1>
          </div>
        </div>
      </header>
      <div className="scrolls min-h-0 flex-1">
        <div className="mx-auto flex w-full max-w-4xl flex-col gap-x-10 px-4 pb-16 md:px-8 lg:flex-row">
          <nav ref={nav} aria-label="Settings" className="sticky top-0 z-10 -mx-4 edges flex gap-1 overflow-x-auto px-4 py-2 md:-mx-8 md:px-8 lg:mx-0 lg:w-44 lg:shrink-0 lg:flex-col lg:self-start lg:px-0 lg:py-6">
            {SECTIONS.map(({ name, title }) => (
              <Link
                key={name}
                href={sectionPath(name)}
                aria-current={name === section ? "page" : undefined}
                className={`flex min-h-11 shrink-0 items-center rounded-lg px-3 text-[0.9375rem] whitespace-nowrap lg:min-h-9 ${name === section ? "bg-press font-medium" : "text-soft hover:bg-press hover:text-ink"}`}
              >
                {title}
              </Link>
            ))}
          </nav>
          <div className="min-w-0 flex-1 pt-4 lg:pt-6">
            <h2 className="mb-4 text-xl font-semibold tracking-tight">{title}</h2>
            <Section section={section} settings={settings} />
          </div>
        </div>
      </div>
    </div>
  );
}

interface SectionProps {
  section: SectionName;
  settings: Parameters<typeof ConfigValues>[0]["settings"];
}

function Section({ section, settings }: SectionProps) {
  switch (section) {
    case "general":
      return <GeneralSection />;
    case "agents":
      return (
        <>
          <AgentsSection />
          <h2 className="mt-10 mb-3 text-lg font-semibold tracking-tight">What you changed</h2>
          <ReadAtStart />
          <ConfigValues section="agents" settings={settings} empty="Nothing: agents and MCP servers are as they come. docs/configuration.md shows how to add one of your own." />
        </>
      );
    case "permissions":
      return (
        <>
          <h2 className="mb-3 text-lg font-semibold tracking-tight">Remembered answers</h2>
          <RememberedList />
          <h2 className="mt-10 mb-3 text-lg font-semibold tracking-tight">Rules</h2>
          <ReadAtStart />
          <ConfigValues section="permissions" settings={settings} />
        </>
      );
    case "devices":
      return <DevicesSection />;
    case "sessions":
      return (
        <>
          <ReadAtStart />
          <ConfigValues section="sessions" settings={settings} />
        </>
      );
    case "server":
      return (
        <>
          <ServerSection settings={settings} />
          <ReadAtStart />
          <ConfigValues section="server" settings={settings} />
        </>
      );
  }
}

function ReadAtStart() {
  return (
    <p className="mb-5 text-sm text-soft">
      The settings below are kept in a file on the server’s machine, config.toml, and are only read here, so that nobody can change them over the
      network. To change one, copy its line into the file and start the server again.
    </p>
  );
}
