"""Measurements of instruction templates against their reference bodies. What comes out is evidence, never a proof."""
