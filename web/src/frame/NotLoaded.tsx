// Stands in place of a part of the page whose code did not come.
import { Button, buttonClass } from "../ui/Button";
import { Link } from "../ui/Link";
import { Notice } from "../ui/Notice";

export function NotLoaded({ onRetry }: { onRetry(): void }) {
  return (
    <div role="alert">
      <p>Could not be loaded. The server may be away, or newer than this page. What you wrote is kept in this browser.</p>
      <p className="mt-4 flex flex-wrap gap-2">
        <Button onClick={onRetry}>Try again</Button>
        <Button look="quiet" onClick={() => location.reload()}>
          Reload the page
        </Button>
      </p>
    </div>
  );
}

/** In place of a whole page. */
export function PageNotLoaded({ name, onRetry }: { name: string; onRetry(): void }) {
  return (
    <Notice title={name}>
      <NotLoaded onRetry={onRetry} />
      <Link href="/" className={`mt-4 md:hidden ${buttonClass("quiet")}`}>
        All sessions
      </Link>
    </Notice>
  );
}
