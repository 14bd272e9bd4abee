/** What the owner of a gateway under test signs in with. */
export const OWNER_CODE = "6f2k-9wqz-h4tn-x8mc-3rvp-7ybd-j5se-a0gv";
