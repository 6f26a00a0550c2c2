"""The trusted core: integer terms, programs, their store families, words, and the interpreter."""
