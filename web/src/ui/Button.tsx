// Buttons, and the one look that links dressed as buttons share with them. Every target is at least 44 px on a phone.
import type { ButtonHTMLAttributes } from "react";

type Look = "plain" | "primary" | "quiet";

const LOOKS: Record<Look, string> = {
  plain: "border border-rule bg-paper px-4 hover:bg-press active:bg-press",
  primary: "border border-ink bg-ink px-4 text-paper hover:opacity-85 active:opacity-75",
  quiet: "border border-transparent px-3 text-soft hover:bg-press hover:text-ink active:bg-press",
};

export function buttonClass(look: Look): string {
  return `inline-flex min-h-11 items-center justify-center gap-2 rounded-lg text-[0.9375rem] font-medium whitespace-nowrap transition-[background-color,color,opacity] disabled:opacity-50 md:min-h-10 ${LOOKS[look]}`;
}

export function Button({ look = "plain", className = "", ...rest }: ButtonHTMLAttributes<HTMLButtonElement> & { look?: Look }) {
  return <button type="button" {...rest} className={`${buttonClass(look)} ${className}`} />;
}

/** A square button that shows only a sign; its label is read out and shown as a tooltip. */
export function IconButton({
  label,
  className = "",
  ...rest
}: Omit<ButtonHTMLAttributes<HTMLButtonElement>, "aria-label" | "title"> & { label: string }) {
  return (
    <button
      type="button"
      {...rest}
      aria-label={label}
      title={label}
      className={`inline-flex size-11 shrink-0 items-center justify-center rounded-lg text-soft transition-[background-color,color,opacity] hover:bg-press hover:text-ink active:bg-press disabled:opacity-50 md:size-10 ${className}`}
    />
  );
}
