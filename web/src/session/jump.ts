// Going to a turn of the session that is open, from anywhere on the page.
//
// The transcript listens: it loads the turn if it has to, scrolls to it, and lights it up for a moment.
import { seek } from "../ui/place";

/**
 * Scrolls the open session to a turn, or to a tool call of it, and has the address name it (`#t42`, `#t42.3`).
 * A turn that there is not leaves everything where it is.
 */
export function jumpToTurn(turn: number, tool: number | null = null): void {
  seek({ turn, tool });
}
