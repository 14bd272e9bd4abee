// The state that a multi-round tool hands to its client and gets back with the next round. It is
// signed, because on the way it is in the client's hands: a changed state never reaches a tool.

import { createRequestStateCodec } from "@modelcontextprotocol/server";

export interface RequestState {
  /** The tool that issued the state, so that one tool's state does not open another. */
  readonly tool: string;
  readonly round: number;
  readonly name?: string;
}

export const requestState = createRequestStateCodec<RequestState>({
  key: crypto.getRandomValues(new Uint8Array(32)),
});
