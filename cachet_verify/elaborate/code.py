"""The diagnostic codes of elaboration: names, types, sizes, equations, calls.

Takes nothing; gives entries of the table that `explain` reads.
Must not raise any of them.
"""

from __future__ import annotations

from cachet_verify.diagnostic import document

_TABLE = (
    (
        "elaborate.assign",
        "`store` writes memory, and `x = e` assigns a `var`. A `let`, a `reads` parameter and an accumulator are never assigned.",
        "let x: f32 = 0.0\nx = 1.0",
        "Declare the local with `var`, the parameter with `mut`, or write memory with `store`.",
    ),
    (
        "elaborate.barrier",
        "A barrier makes the groups that share a tile wait for one another, so every one of them has to come to it: it stands in the body of a "
        "`grid … by tile`, under loops and guards that are the same for all groups. Where a loop or a guard holds a barrier, memory that "
        "groups share is not used on both sides of its start or end without a barrier between, unless both only read.",
        "if si < 1 then\n  barrier",
        "Put the barrier outside the guard, and leave the work inside; put one more where two uses meet.",
    ),
    (
        "elaborate.block.form",
        "How a block is combined is written over what stands before it and over arrays of its elements' parameters: words, and totals that "
        "each go once over the whole block and read the element at their own index.",
        "fn block (a: f32) (x: [f32; B]) = a + x[0]",
        "Write `sum j. x[j]`, `reduce Max f32 j. x[j]` or `fold j in 0 .. B from a as t: f32 do …`.",
    ),
    (
        "elaborate.block.key",
        "A block's arrays hold the parameters of its elements, and the function that makes an element of them is not told, or takes others.",
        "fn block (a: Weights) (s: [f32; B]) = …    // where `fn key (s: f32) (v: f32)` makes an element",
        "Give `block` an array for each parameter of `key`, or name another function: `law block single over reals`.",
    ),
    (
        "elaborate.call.argument",
        "A call that writes memory takes whole buffers by name.",
        "rows (load a[0, 0]) b c",
        "Pass the buffer's name; name a part of one with `view` first.",
    ),
    (
        "elaborate.call.arity",
        "A call has another number of arguments than the function has parameters. A schedule takes those of what it schedules, then its own buffers.",
        "fma a b",
        "Give every argument, in the order of the declaration.",
    ),
    (
        "elaborate.view",
        "A view says no extents, and they are not plain: an index of it runs along several dimensions, along none, or by no fixed stride.",
        "view v[i] = c[i, i]",
        "Write them: `view v[i] : [N] = c[i, i]`.",
    ),
    (
        "elaborate.count",
        "An assertion counts memory, or names a size, that is not there: a function, a buffer of it, or a line that all levels agree on.",
        "proof small = assert span_bytes packB.span <= 4096",
        "Name the function too: `span_bytes packed.packB.span`, `packed.K`; or say how long a line is: `line_ceil bytes 128`.",
    ),
    (
        "elaborate.call.layout",
        "An argument is laid out in memory in another way than the parameter declares.",
        "packed a b c plain packB",
        "Declare both with the same layout, or copy one into the other.",
    ),
    (
        "elaborate.call.mode",
        "A parameter's mode does not fit: something read only is lent to be written, or an array has no mode.",
        "fn f (a: [f32; N]) = …",
        "Write `reads`, `mut` or `-> out`.",
    ),
    (
        "elaborate.call.recursion",
        "A function or a schedule reaches itself through its calls. Programs are finite nests of loops, so there is no recursion.",
        "fn f x = f x",
        "Use a loop or a `fold`.",
    ),
    (
        "elaborate.call.shape",
        "The shape of an argument can never be the one that the parameter declares.",
        "product a b c    // c: [f32; 16, 16], wanted [f32; 32, 32]",
        "Pass a buffer of the declared extents.",
    ),
    (
        "elaborate.condition",
        "A condition on integers was expected: a comparison, or several joined by `and`, `or` and `not`.",
        "requires N",
        "Compare: `requires N > 0`.",
    ),
    (
        "elaborate.constant",
        "A constant has no value that is a number of its type.",
        "const N : Nat = 0 - 1",
        "Give it a natural number, or declare it `Int`.",
    ),
    ("elaborate.constant.cycle", "A constant is defined by itself.", "const A : Nat = B\nconst B : Nat = A", "Break the cycle."),
    (
        "elaborate.contract",
        "A line between the parameters and the `=` names something that it cannot be about.",
        "produces Init a    // a is not a parameter",
        "Name a `mut` parameter.",
    ),
    (
        "elaborate.depth",
        "A declaration reaches through too many others, each naming the next.",
        "const A : Nat = B    // and so on",
        "Shorten the chain.",
    ),
    (
        "elaborate.size",
        "Functions of words are inlined where they are used; here that makes an expression far too large to check.",
        "fn f x =\n  let y = x + x\n  let z = y + y    // and so on, forty times",
        "Keep intermediate results in locals of a function over buffers.",
    ),
    ("elaborate.equation.cycle", "An intermediate of a contraction is defined by itself.", "s[i] = s[i] + a[i]", "Use a `fn` with a loop."),
    (
        "elaborate.equation.missing",
        "No equation of a contraction defines its result.",
        "-> out c: [f32; N] =\n  s[i] = a[i]",
        "Define the result: `c[i] = …`.",
    ),
    (
        "elaborate.equation.sum",
        "`sum` takes its range from the shapes of a contraction's operands, so it stands only there.",
        "fn f (reads a: [f32; N]) (mut c: [f32; N]) =\n  store c[0] = sum k. a[k]",
        "In a function write the range: `fold k in 0 .. N from -0.0 as acc: f32 do acc + load a[k]`.",
    ),
    (
        "elaborate.equation.target",
        "The left side of an equation is the result, or an intermediate, at distinct indices; the body of a contraction holds nothing else.",
        "c[i, i] = a[i]",
        "Give each dimension an index of its own; use a `fn` for loops.",
    ),
    (
        "elaborate.equation.where",
        "A condition after `where` compares indices and sizes, and speaks of an index of its sum or reduction. What an index runs over never "
        "depends on words.",
        "c[i] = sum k where a[i, k] > 0.0. a[i, k]",
        "Compare indices and sizes: `sum k where k <= i. a[i, k]`; a choice by words is part of the value: `if … then … else …`.",
    ),
    ("elaborate.equation.twice", "Two equations define one name.", "c[i] = a[i]\nc[i] = b[i]", "Keep one of them."),
    (
        "elaborate.generic.member",
        "An interface has no operation of that name, or an implementation lacks it.",
        "S.subtract a b",
        "Use an operation of the interface, or add it to the implementation.",
    ),
    (
        "elaborate.generic.missing",
        "No implementation of the interface has that name.",
        "schedule s of matmul @(S = PlusTimes f128) = …",
        "Name one that is declared or imported: `PlusTimes f32`, `MinPlus f32`, `Boolean`.",
    ),
    (
        "elaborate.generic.parameter",
        "`@(…)` binds a parameter that the function does not have.",
        "matmul @(T = PlusTimes f32) a b c",
        "Use the name in the function's braces: `{S : Semiring}`.",
    ),
    (
        "elaborate.generic.unbound",
        "A generic function is called without saying what its parameter is.",
        "matmul a b c",
        "Bind it: `matmul @(S = PlusTimes f32) a b c`.",
    ),
    (
        "elaborate.grid.window",
        "What follows `writes` is a part of memory that the function may write.",
        "grid i in 0 .. N writes a[i] do    // reads a",
        "Name a `mut` buffer, with one index or slice for each dimension.",
    ),
    (
        "elaborate.import.cycle",
        "Files import one another in a circle.",
        'import "b.cachet"    // which imports this file',
        "Move what both need into a third file.",
    ),
    (
        "elaborate.import.missing",
        "Nothing of that name is shipped with the tool.",
        'import "cachet:semirings"',
        "Use one of the names that the message lists, or a path to your own file.",
    ),
    (
        "elaborate.index.kind",
        "An integer was expected: indices, bounds and extents are made of sizes, counters, constants and arithmetic on them. "
        "A word read from memory is never an index.",
        "store c[load p[i]] = 0.0",
        "Use a counter or a size.",
    ),
    (
        "elaborate.index.rank",
        "A place has another number of indices than its buffer has dimensions.",
        "load a[i]    // a: [f32; M, K]",
        "Give one index for each.",
    ),
    ("elaborate.index.zero-divisor", "A division by the number 0.", "for i in 0 .. N / 0 do", "Divide by something else."),
    (
        "elaborate.instruction.block",
        "An instruction that multiplies blocks has the body `mma_block a b acc`: three of its operands, rows times depth words, depth times "
        "columns, and rows times columns. To multiply tiles, the total is its last operand.",
        "instr fn f (a: Vec f32 64) (b: Vec f32 60) (acc: Vec f32 64) -> Vec f32 64 =\n  mma_block a b acc",
        "Give the operands widths that multiply: 8 x 8 blocks are `Vec f32 64` each.",
    ),
    (
        "elaborate.instruction.template",
        "A template names the operands of its instruction in braces, and `{result}`; a target has one template.",
        'by_target metal "f({result}, {c});"    // there is no c',
        "Use the names of the operands.",
    ),
    (
        "elaborate.invariant",
        "An `invariant` names a result and sizes among its extents; each parameter has at most one dimension of such an extent, and no extent that "
        "only mentions it, so that the shapes say which cells belong to a part.",
        "invariant c in M    // a: [f32; M, M]",
        "Name an output and its sizes, and give each dimension that is not the part's own a size of its own.",
    ),
    (
        "elaborate.law.domain",
        "A law says over what it holds: over the reals, where nothing is rounded, or over words.",
        "law add associative over floats",
        "Write `over reals` or `over words`.",
    ),
    (
        "elaborate.law.equation",
        "A law with an equation of its own states that two sides are equal, for all values of its variables, whose types are given.",
        "law twice (a: f32) over reals : a + a",
        "Write `law twice (a: f32) over reals : a + a == 2.0 * a`.",
    ),
    (
        "elaborate.law.unknown",
        "A law without an equation and without a reason is one of those that are known by their words: `OP associative`, `OP commutative`, "
        "`OP identity`, `OP annihilates`, `distributive`, `mul_add`; a monoid's operation is left out.",
        "law add idempotent over reals",
        "State it: `law idempotent (a: f32) over reals : max a a == a`.",
    ),
    (
        "elaborate.layout",
        "A layout's declaration or use does not fit: it maps one index for each extent to one address.",
        "in PanelMajor    // of one number",
        "Write `in PanelMajor 4`, or `layout Rows : [R, C] (i, j) = i * C + j`.",
    ),
    (
        "elaborate.lease.root",
        "While a `mut` lease of a buffer lasts, the buffer goes by the lease's name only.",
        "lease mut x = packA at L2\nstore packA[0, 0] = 0.0",
        "Use the lease's name.",
    ),
    ("elaborate.name.duplicate", "One name stands for two things.", "fn f x = x\nfn f y = y", "Rename one of them."),
    (
        "elaborate.movement",
        "A row of `movement` is a number times the lines of one parameter's span, from a level to a nearer one, with `and back` where it may return.",
        "traffic 8 from DRAM to L1",
        "Write `traffic 8 * lines (span_bytes a.span) from DRAM to L1 and back`.",
    ),
    (
        "elaborate.name.kind",
        "A name stands for something of another kind than is wanted there.",
        "schedule s of PlusTimes = …",
        "Name the right thing.",
    ),
    ("elaborate.name.reserved", "A declaration takes a word of the language.", "fn fma a b c = a", "Choose another name."),
    (
        "elaborate.name.unknown",
        "A name is not declared in the file, nor by the prelude or what it imports. Imports are not passed on: each file imports what it names.",
        'zero (i, j) c    // without import "cachet:steps"',
        "Add the import that the message names, or mend the spelling.",
    ),
    (
        "elaborate.device.unknown",
        "The platform that the `module` line names has no device of that name.",
        "schedule rows of matmul on M5Gpu = …",
        "Name one of the devices that the platform's file states, or leave `on` out for the host.",
    ),
    (
        "elaborate.platform.fact",
        "The platform does not state that fact.",
        "platform.fma_pipes @Tensor",
        "Use a fact that the platform's file states.",
    ),
    ("elaborate.platform.level", "The platform has no memory level of that name.", "at L7", "Use one of its levels: `L1`, `L2`, `DRAM`."),
    (
        "elaborate.platform.missing",
        "A fact of the platform is used, and the file names none, or names one that is not imported.",
        "platform.lanes @Vec @f32",
        'Start with `module (platform = AppleSilicon)` and `import "cachet:platforms/apple-silicon"`.',
    ),
    (
        "elaborate.proof",
        "The two sides of `relate` cannot be compared: their parameters do not correspond.",
        "proof p = relate f to g    // f has a buffer that g has not",
        "Give both the same parameters; list what one has besides as `scratch`.",
    ),
    (
        "elaborate.range.disagree",
        "A summed index runs over an operand's whole dimension, and two operands give it different extents.",
        "c[i] = sum k. a[i, k] * b[k]    // a: [f32; M, K], b: [f32; L]",
        "Declare both dimensions with one size.",
    ),
    (
        "elaborate.range.unknown",
        "A summed index takes its range from an operand that it indexes alone, and none is.",
        "y[i] = sum r. x[i + r]",
        "Index some operand by it alone, as in `x[i + r] * w[r]`.",
    ),
    (
        "elaborate.size.unbound",
        "A size stands only inside larger extents, so a call cannot tell its value; or a schedule's buffer has a size that its program has not.",
        "(reads x: [f32; N + R]) (mut y: [f32; N])",
        "Give it an extent of its own, or a parameter `(R: Nat)`.",
    ),
    (
        "elaborate.statement",
        "A value stands as a statement, and nothing uses it.",
        "fma a b c",
        "Store it, bind it with `let`, or call something that writes.",
    ),
    (
        "elaborate.tile.axis",
        "A tile is reduced over `rows` or over `cols`, in an order that is written: `order` is the ascending chain from the identity, `halving` "
        "pairs the elements of one half with those of the other.",
        "reduce Max f32 over lines by halving do s",
        "`reduce Max f32 over cols by halving do s`.",
    ),
    (
        "elaborate.tile.block",
        "An instruction multiplies whole blocks, each in the part of one group: its blocks have to divide the tiles, and the parts of a "
        "grid by tile.",
        "let x: [f32; 12, 8] = …    // in blocks of 8 x 8",
        "Choose extents that are multiples of the blocks.",
    ),
    (
        "elaborate.tile.parts",
        "A grid by tile writes a tile, a block of as many dimensions as it has parts, and its parts divide the tile.",
        "by tile (si, sj) parts [6, 8] writes c[gi * 16 .. gi * 16 + 16, …] as ct",
        "Choose parts that divide the tile.",
    ),
    (
        "elaborate.tile.scratch",
        "Scratch that the groups of a tile share is an array that starts without words; the groups fill it between barriers.",
        "var xs: [f32; 16, 8] at threadgroup = repeat 0.0",
        "Declare it without a value, and fill it.",
    ),
    (
        "elaborate.tile.shape",
        "Tiles that are taken together have the same extents, or 1 where one element goes along with all; a product multiplies rows by depth with "
        "depth by columns.",
        "t + u    // t: [f32; 16, 16], u: [f32; 16, 8]",
        "Give both the same extents.",
    ),
    (
        "elaborate.type.literal",
        "A literal is not one of the type wanted: integers have no point, floats have one, and integers are in range.",
        "let x: f32 = 1",
        "Write `1.0` for a float and `1` for an integer.",
    ),
    ("elaborate.type.load", "Memory is read with `load`.", "let x = c[i, j]", "Write `load c[i, j]`."),
    (
        "elaborate.type.mismatch",
        "An expression has another type than its surroundings ask for. Element types never mix by themselves: a conversion rounds, so it is written.",
        "fma (load a[i]) (load b[i]) 0.0    // a of f32, b of f64",
        "Convert with `as`, or fill a vector with `splat`.",
    ),
    (
        "elaborate.type.operation",
        "An operation is not defined on that element type. A generic `S.Value` has only the operations of its interface.",
        "max (load a[i]) (load b[i])    // of S.Value",
        "Use `S.add` and the like, or bind the type.",
    ),
    ("elaborate.type.unknown", "The type of something cannot be told from its text.", "let x = 0.0", "Write it: `let x: f32 = 0.0`."),
    (
        "elaborate.vector.slice",
        "A part of a buffer, `lo .. hi`, is a vector; one word was wanted.",
        "let x: f32 = load a[0 .. 8]",
        "Declare the local `Vec f32 8`.",
    ),
    (
        "elaborate.vector.width",
        "How many lanes a vector has is a constant, and is written.",
        "store c[0 .. 8] = splat 0.0",
        "Bind the value first: `let x: Vec f32 8 = …`.",
    ),
)

for _entry in _TABLE:
    document(*_entry)
