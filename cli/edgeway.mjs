#!/usr/bin/env node
/**
 * Runs the command in a checkout, and builds it first if need be. The build is no step of the installation: that
 * would be skipped by `npm ci --ignore-scripts`, and be outdated after the next `git pull`.
 */

import { pathToFileURL } from "node:url";

import { build, BUILT, isBuilt } from "./build.mjs";

if (!isBuilt()) await build();
await import(pathToFileURL(BUILT).href);
