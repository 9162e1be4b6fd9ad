// Whether this browser shows notifications.
import { useState } from "react";

import { canNotify, chooseNotifications, useNotificationChoice } from "../app/notifications";
import { Alert } from "../ui/Alert";

export function NotificationsSection() {
  const { on, titles } = useNotificationChoice();
  const [refused, setRefused] = useState(false);
  const choose = async (wanted: { on: boolean; titles: boolean }) => {
    setRefused(!(await chooseNotifications(wanted)));
  };
  if (!canNotify()) {
    return (
      <p className="text-soft">
        This browser can not show notifications here. Most want the page over https, or on the server’s own machine; on an iPhone, the page has to be
        on the home screen first.
      </p>
    );
  }
  return (
    <>
      <p className="mb-4 text-soft">
        One for each question and each turn that ends while you look elsewhere, for as long as the page is open somewhere in this browser. A press opens
        the session.
      </p>
      <Switch checked={on} onChange={(wanted) => void choose({ on: wanted, titles: false })} title="Notify me" about="Says which agent and which project, and never what was asked or answered." />
      <Switch checked={titles} disabled={!on} onChange={(wanted) => void choose({ on: true, titles: wanted })} title="Show the session’s title" about="It may hold words of your prompt, and others may see your screen." />
      {refused && <Alert className="mt-3">The browser does not allow it. Allow notifications for this page in the browser’s own settings, then try again.</Alert>}
    </>
  );
}

interface SwitchProps {
  checked: boolean;
  disabled?: boolean;
  title: string;
  about: string;
  onChange(checked: boolean): void;
}

function Switch({ checked, disabled = false, title, about, onChange }: SwitchProps) {
  return (
    <label className={`flex min-h-11 gap-3 py-2 ${disabled ? "" : "cursor-pointer"}`}>
      <input type="checkbox" checked={checked} disabled={disabled} onChange={(event) => onChange(event.target.checked)} className="mt-0.5 size-5 shrink-0 accent-focus" />
      <span>
        <span className={`block font-medium ${disabled ? "text-soft" : ""}`}>{title}</span>
        <span className="block text-sm text-soft">{about}</span>
      </span>
    </label>
  );
}
