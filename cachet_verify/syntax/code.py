"""The diagnostic codes of reading files and of the grammar.

Takes nothing; gives entries of the table that `explain` reads.
Must not raise any of them.
"""

from __future__ import annotations

from cachet_verify.diagnostic import document

document(
    "file.missing",
    "A path on the command line or in an `import` names no file. A relative import is looked for beside the file that imports it; "
    "`cachet:NAME` names a file that comes with the tool.",
    'import "lib/panels.cachet"',
    "Check the spelling, and from which folder the path counts.",
)
document(
    "file.directory",
    "A path that has to name a file names a folder.",
    'import "lib"',
    "Name a `.cachet` file in the folder. `check` takes folders; `import`, `run` and `scheduled` take one file.",
)
document(
    "file.unreadable",
    "A file is there, but the operating system does not let it be read, or it is no regular file, or it is far too large for a source text.",
    "cachet-verify check /dev/zero",
    "Make the file readable, or name another one.",
)
document(
    "syntax.encoding",
    "A source text is UTF-8. The place shown is the first byte that is not.",
    "// na\u00efve, saved as Latin-1",
    "Save the file as UTF-8.",
)
document(
    "syntax.character",
    "A character stands outside comments and texts that Cachet gives no meaning to: a sign "
    "of another language, a typographic quote or minus, a NUL byte.",
    "let x = a ^ 2",
    "Leave it out, or write the sign Cachet uses for it; docs/language.md lists the signs.",
)
document(
    "syntax.number",
    "A number runs into a letter, has a digit that its base does not have, or has more digits than any size or value can need.",
    "let x = 2d",
    "Write `2 * d`, or start the name with a letter.",
)
document(
    "syntax.string",
    "A text in double quotes has to end in its own line, and knows the escapes `\\\"`, `\\\\`, `\\n` and `\\t`.",
    'import "cachet:steps',
    "Close the text with a double quote.",
)
document(
    "syntax.ellipsis",
    "Three dots stand for code left out of a listing. A program has to say everything.",
    "var acc: f32 = ...",
    "Write out what the dots stand for. A range has two dots: `0 .. N`.",
)
document(
    "syntax.tab",
    "Blocks are told by their indentation, and a tab has no agreed width.",
    "fn f () =\n\tlet x = 3",
    "Indent with blanks, two for each level.",
)
document(
    "syntax.bracket",
    "A bracket is never closed, closes nothing, or closes another kind of bracket.",
    "let x = (a + b",
    "Write the bracket that is missing, or leave out the one too many.",
)
document(
    "syntax.layout",
    "A line is indented so that it belongs to no block: it stands left of the lines above it and lines up with none of the blocks around it; "
    "or a declaration does not start in the first column.",
    "fn f () =\n    let x = 3\n  let y = 4",
    "Line it up with the block it belongs to. A line indented further than the one above goes on with it.",
)
document(
    "syntax.expected",
    "The text up to here is fine, and nothing in the language goes on the way it does. The message lists what could stand here.",
    "for i in 0 .. M\n  store c[i] = 0.0",
    "Follow the remedy under the message; docs/language.md shows every form.",
)
document(
    "syntax.value",
    "Something stands where a value is needed and has none: an `if` without `else`, or a block whose last line is no expression.",
    "let x = if i == 0 then 1.0",
    "Give every branch a value: `if p then x else y`.",
)
document(
    "syntax.assign",
    "Only a `var` and a cell of one can be assigned to. A place of an array is written with `store`.",
    "load a[i] = 3",
    "`acc = e`, `t[p] = e`, `store c[i, j] = e` or `let x = e`.",
)
document(
    "syntax.form",
    "The parts of a form do not fit together, as the message says: a loop over something that is no range, a split without an index, "
    "a contraction with something that is no equation.",
    "for i in N do",
    "Write the form as the remedy shows it.",
)
document(
    "syntax.too-deep",
    "Expressions and blocks are nested deeper than the tool takes. Parentheses alone do not count; 120 levels of operations do.",
    "a + (a + (a + (a + \u2026)))",
    "Name a part of it with `let`.",
)
document(
    "syntax.more",
    "A file with very many faults shows the first twenty.",
    "int main(void) { return 0; }",
    "Mend the first ones and run again.",
)
