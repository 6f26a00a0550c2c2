"""Text to syntax tree and back.

Takes source texts; gives trees (`ast`), a parser (`parse`) and a printer (`print`), each a module.
Must not import any of them here: a reader of trees should not pay for the parser.
"""
