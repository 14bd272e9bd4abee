/** What a gateway that was started with `COST_REPORT:on` has counted since its isolate began. */

export interface Costs {
  readonly objectsConstructed: number;
  readonly objectRequests: number;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly alarmsSet: number;
  readonly outgoingRequests: number;
  readonly webSocketMessagesIn: number;
  readonly webSocketMessagesOut: number;
}

export async function readCosts(origin: string): Promise<Costs> {
  const response = await fetch(`${origin}/debug/costs`);
  if (!response.ok) throw new Error(`No report of costs: ${response.status}`);
  return (await response.json()) as Costs;
}
