"""Items to verdicts: which goals an item comes to, and what their answers say of it."""
