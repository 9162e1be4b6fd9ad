// What a person looks for first: how the page looks, when it notifies, how a phone gets in, and which agents there are.
import type { ReactNode } from "react";
import { useState } from "react";

import { Button, buttonClass } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Link } from "../ui/Link";
import { AddPhoneDialog } from "./AddPhoneDialog";
import { AppearanceSection } from "./AppearanceSection";
import { NotificationsSection } from "./NotificationsSection";
import { sectionPath } from "./sections";

export function GeneralSection() {
  const [adding, setAdding] = useState(false);
  return (
    <>
      <AppearanceSection />
      <Subject title="Notifications">
        <NotificationsSection />
      </Subject>
      <Subject title="Phone">
        <p className="mb-3 text-soft">Read along and answer questions from your phone. A code that it scans signs it in.</p>
        <Button onClick={() => setAdding(true)}>
          <Icon name="plus" />
          Add a phone
        </Button>
      </Subject>
      <Subject title="Agents">
        <p className="mb-3 text-soft">Which agents are on the server’s machine, how to install and sign in to others, and whether they work.</p>
        <Link href={sectionPath("agents")} className={buttonClass("plain")}>
          See the agents
        </Link>
      </Subject>
      {adding && <AddPhoneDialog onClose={() => setAdding(false)} />}
    </>
  );
}

function Subject({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="mt-10">
      <h3 className="mb-2 text-lg font-semibold tracking-tight">{title}</h3>
      {children}
    </section>
  );
}
