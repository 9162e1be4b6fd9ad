// Keeps what cannot be drawn from taking the rest of the page with it.
//
// Invariant: an error while drawing ends at the nearest of these, which says so in place of what it was; everything
// around it goes on. What it shows instead is simple enough to never fail itself.
import type { ReactNode } from "react";
import { Component } from "react";

import { Button } from "./Button";
import { Dialog } from "./Dialog";
import { Notice } from "./Notice";

interface BoundaryProps {
  /** What is drawn: when it is another, it is tried anew. */
  of?: unknown;
  /** What stands there instead. */
  instead(retry: () => void): ReactNode;
  children: ReactNode;
}

interface BoundaryState {
  failed: boolean;
  of: unknown;
}

export class Boundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { failed: false, of: this.props.of };

  static getDerivedStateFromError(): Partial<BoundaryState> {
    return { failed: true };
  }

  static getDerivedStateFromProps({ of }: BoundaryProps, state: BoundaryState): Partial<BoundaryState> | null {
    return Object.is(of, state.of) ? null : { failed: false, of };
  }

  override render(): ReactNode {
    return this.state.failed ? this.props.instead(() => this.setState({ failed: false })) : this.props.children;
  }
}

interface PanelProps {
  /** What it is, as in “The contents”. */
  name: string;
  of?: unknown;
  className?: string;
  children: ReactNode;
}

/** Around a part of the page that stands in its own place. */
export function PanelBoundary({ name, of, className = "", children }: PanelProps) {
  return (
    <Boundary of={of} instead={(retry) => <CannotBeShown name={name} className={className} onRetry={retry} />}>
      {children}
    </Boundary>
  );
}

/** Around a dialog: it is a dialog still, so that it can be closed. */
export function DialogBoundary({ name, of, onClose, children }: PanelProps & { onClose(): void }) {
  return (
    <Boundary
      of={of}
      instead={(retry) => (
        <Dialog title={name} onClose={onClose}>
          <CannotBeShown name={name} className="" onRetry={retry} />
        </Dialog>
      )}
    >
      {children}
    </Boundary>
  );
}

/** Around a whole page. */
export function RouteBoundary({ of, children }: { of?: unknown; children: ReactNode }) {
  return (
    <Boundary
      of={of}
      instead={(retry) => (
        <Notice title="This page cannot be shown">
          <p>Something in it could not be drawn. Nothing is lost: the server keeps all of it.</p>
          <Button className="mt-6" onClick={retry}>
            Try again
          </Button>
        </Notice>
      )}
    >
      {children}
    </Boundary>
  );
}

function CannotBeShown({ name, className, onRetry }: { name: string; className: string; onRetry(): void }) {
  return (
    <div role="alert" className={`p-3 text-[0.9375rem] text-soft ${className}`}>
      <p>{name} cannot be shown: something in it could not be drawn.</p>
      <button type="button" className="small-button mt-2" onClick={onRetry}>
        Try again
      </button>
    </div>
  );
}

const logged = new Set<string>();

/** For the console, once for each kind of error: what fails is often drawn again with every word that comes. */
export function logOnce(error: unknown): void {
  const words = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  if (!logged.has(words)) {
    logged.add(words);
    // eslint-disable-next-line no-console -- what went wrong would be seen by nobody
    console.error(error);
  }
}
