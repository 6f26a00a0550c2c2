"""Proposals for route B: where words come from, and which operations of two programs correspond."""
