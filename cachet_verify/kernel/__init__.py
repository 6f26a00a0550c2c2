"""The kernel: rules that issue goals, and the one way from a goal to a claim. See RULES.md."""
