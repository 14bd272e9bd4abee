/** What the owner of a gateway under test signs in with. */
export const OWNER_CODE = "6f2k-9wqz-h4tn-x8mc-3rvp-7ybd-j5se-a0gv";

/**
 * Stands in front of the pages for everybody who is not the owner. No page offers it, and it lets in
 * every person with an address of its domain.
 */
export const PEOPLE_PROVIDER = {
  ...{ provider: "access", name: "one", team: "https://people.example", audience: "edgeway" },
  allow: { domains: ["example.com"] },
  admins: ["root@example.com"],
};
