"""The diagnostic codes of schedule steps.

Takes nothing; gives entries of the table that `explain` reads.
Must not raise any of them.
"""

from __future__ import annotations

from cachet_verify.diagnostic import document

document(
    "rewrite.unknown-step",
    "A line of a schedule starts with a word that is no built-in step, no step fn and no schedule fn in reach.",
    "schedule s of matmul =\n  hoits (j, k) c",
    'Check the spelling; `import "cachet:steps"` brings the library steps.',
)
document(
    "rewrite.arguments",
    "A step or a schedule fn is there, but the line is not written in its shape: arguments, parentheses or clauses differ.",
    "pack a into packA over (a0, a1)",
    "Write the line in the form that the message shows.",
)
document(
    "rewrite.recursive-schedule-fn",
    "A schedule fn calls itself, directly or through others, so it would never end.",
    "schedule fn twice k =\n  twice k",
    "Write the steps out; a schedule fn may only call others that do not lead back to it.",
)
document(
    "rewrite.no-loop",
    "A step names a loop, or the index of a sum, that the program does not have where the step is applied. Loops are named by their "
    "counters; a split leaves the old name to the innermost loop.",
    "interchange (i, q)",
    "Name one of the loops that the message lists; `scheduled --all-steps` shows the nest before each step.",
)
document(
    "rewrite.no-match",
    "A step finds its loops, but what stands there has another form than the step can rewrite. The message says what was looked for and "
    "what was found.",
    "schedule s of matmul =\n  hoist (j, k) c",
    "Bring the nest into the form that is looked for; often `zero (…) c` has to come first, so that sums start from their cells.",
)
document(
    "rewrite.not-nested",
    "`order` reorders loops of one perfect nest: each holds the next and nothing else.",
    "order (i, zi)",
    "Name loops that stand one right inside the other, before statements are put between them.",
)
document(
    "rewrite.scope",
    "After the step, something would be used where a loop that it speaks of no longer stands around it: the bounds of a loop, or what a "
    "`$` variable matched.",
    "split i by 16 as gi, 4 as ui ragged\norder (ui, gi, i)",
    "Keep the loop around it, or say in the step what takes the counter's place: `$body[i := e]`.",
)
document(
    "rewrite.name-taken",
    "A step is to give a loop or a buffer a name that is in use. Every name means one thing throughout a program.",
    "split i by 16 as j ragged",
    "Choose a name that no loop, size, parameter or local has.",
)
document(
    "rewrite.unknown-name",
    "A step uses a name that stands for nothing it could mean there: a buffer that the schedule's header does not declare, or an integer "
    "that is no constant and no size.",
    "split i by MC as gi ragged",
    "Declare the buffer in the header of the schedule, or the constant with `const`.",
)
document(
    "rewrite.element-type",
    "A copy keeps the words as they are, so a buffer that is packed into holds the type of the operand.",
    "schedule s of matmul @(S = PlusTimes f32) (mut packA: [f64; 16, 16]) =\n  pack a into packA along i over (a0, a1)",
    "Declare the buffer with the element type of the operand.",
)
document(
    "rewrite.not-an-integer",
    "An argument of a step, or a bound in a step fn, is not an integer expression.",
    "split i by 1.5 as gi ragged",
    "Use numbers, constants, sizes, + - * / %, floor, ceil, min and max; in a step fn also counters, `g.lo`, `g.len`, `g[k]`.",
)
document(
    "rewrite.not-a-condition",
    "A guard in a step fn is not a condition on integers.",
    "if $x + 1 then",
    "Compare integers, with and, or, not.",
)
document(
    "rewrite.step-definition",
    "A step fn says something that no step can match or build.",
    "step fn s i =\n  from\n    for i in $A do\n      $body\n      $rest\n  to\n    $body",
    "docs/steps.md lists the forms of patterns and replacements.",
)
document(
    "rewrite.unbound-hole",
    "The `to` of a step fn uses a `$` variable that its `from` does not match, or replaces a counter that its `from` does not bind.",
    "step fn s i =\n  from\n    for i in $A do\n      $body\n  to\n    $other",
    "Use the `$` variables and counters of `from`.",
)
document(
    "rewrite.recipe",
    "A line of a `relate` recipe names no kernel rule, or speaks of a loop or a buffer that is not there.",
    "relate\n  trust me",
    "docs/steps.md lists the lines of recipes and what each means.",
)
document(
    "rewrite.rule",
    "A step was built, but no kernel rule can relate the programs before and after it: they differ in more than the step's recipe allows.",
    "step fn double i =\n  from\n    for i in $A do\n      store $cell = $v\n  to\n    for i in $A do\n      store $cell = $v + $v",
    "The message gives the rule's reason. Change the step so that every store is there once, with the same operations.",
)
document(
    "rewrite.not-supported",
    "The steps of a schedule are understood one by one, but not together: one reduction is regrouped over words and another over the reals.",
    "schedule s of both =\n  regroup j by 8 as gj    // a maximum: over words\n  regroup k by 8 as gk    // a sum of floats: over the reals",
    "Regroup them in schedules of their own, each of its contraction.",
)
document(
    "rewrite.not-a-step",
    "A line of a schedule is no rewrite.",
    'admit "not yet proved"',
    "Leave it out of the steps.",
)
document(
    "rewrite.no-block",
    "A reduction is fused in blocks by what its monoid says of a whole block, and this one says nothing.",
    "reduce j.inner by (max: order)    // of a monoid of records without `fn block`",
    "Write `fn block (a: Value) (s: [f32; B]) = …` and `law block over reals` in its `impl`.",
)
document(
    "rewrite.no-split",
    "`reduce j.inner` combines the blocks into which a `split` cuts the index, and no `split` of it stands in the schedule.",
    "schedule s of total =\n  reduce k.inner by (sum: halving)",
    "Write `split k by 8` before it, with `ragged` where the last block may be shorter.",
)
document(
    "rewrite.reassoc",
    "A step combines the keys of a block before they meet the total, which regroups the reduction. Over words that gives other words, "
    "unless combining is associative over words, as integer sums and maxima are; the contraction has to permit it.",
    "contraction total (reads a: [f32; K]) -> out c: [f32; 1] =\n  c[i] = sum k. a[k]\nschedule s of total =\n  regroup k by 16 as gk",
    "Write `sum[reassoc] k.` or `reduce[reassoc] Online j.` in the contraction; the claim is then about the bits of the shadow, and about "
    "the contraction over the reals.",
)
