// What searches answer.
import type { InteractionId, SessionId, Snippet, Timestamp } from "./names";

export interface SearchPage {
  query: string;
  total: number;
  more_than_total?: boolean;
  results: SearchResult[];
  next_cursor?: string | null;
  notes?: string[];
  indexing?: { done: number; total: number } | null;
}

export interface SearchResult {
  session_id: SessionId;
  session_name: string;
  project: string;
  agent: string;
  turn: number;
  id?: InteractionId | null;
  tool?: string | null;
  role: string;
  summary: string;
  created: Timestamp;
  snippet: Snippet;
}
