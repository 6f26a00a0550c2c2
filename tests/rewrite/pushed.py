"""Bodies of nests over rows and columns, and what each becomes when the loops are pushed in, by hand.

Takes nothing; gives texts: a function whose loop over `i` is split by 2, the counters, the iteration as it is printed.
"""

from __future__ import annotations

CASES: dict[str, tuple[str, tuple[str, ...], str]] = {
    "three statements": (
        """\
fn f (reads a: [f32; N, M]) (reads b: [f32; M]) (mut c: [f32; N, M]) =
  for i in 0 .. N do
    for j in 0 .. M do
      let x: f32 = load a[i, j] * load b[j]
      let z: f32 = load b[j] + 1.0
      store c[i, j] = x + z
""",
        ("i", "j"),
        """\
var x: [f32; 2, M]
for i in 0 .. 2 do
  for j in 0 .. M do
    x[i, j] = load a[2 * gi + i, j] * load b[j]
var z: [f32; M]
for j'1 in 0 .. M do
  z[j'1] = load b[j'1] + 1.0
for i'1 in 0 .. 2 do
  for j'2 in 0 .. M do
    store ct[i'1, j'2] = x[i'1, j'2] + z[j'2]
""",
    ),
    "one counter, a total in a loop, and a word for all": (
        """\
fn f (reads a: [f32; N, K]) (reads b: [f32; 3]) (mut c: [f32; N]) =
  for i in 0 .. N do
    var t: f32 = 0.0
    let w: f32 = load b[1]
    for k in 0 .. K do
      t = t + load a[i, k] * w
    store c[i] = t
""",
        ("i",),
        """\
var t: [f32; 2]
for i in 0 .. 2 do
  t[i] = 0.0
var w: f32
w = load b[1]
for k in 0 .. K do
  for i'1 in 0 .. 2 do
    t[i'1] = t[i'1] + load a[2 * gi + i'1, k] * w
for i'2 in 0 .. 2 do
  store ct[i'2] = t[i'2]
""",
    ),
    "ragged blocks and a triangle": (
        """\
fn f (reads a: [f32; N, K]) (reads b: [f32; K, M]) (mut c: [f32; N, M]) =
  for i in 0 .. N do
    for j in 0 .. M do
      var t: f32 = 0.0
      for gk in blocks (0 .. K) 2 do
        var s: [f32; 2] = repeat (0.0)
        for k in 0 .. gk.len do
          s[k] = load a[i, gk[k]] * load b[gk[k], j]
        for h in 0 .. gk.len do
          for h2 in 0 .. h + 1 do
            t = t + s[h2]
      store c[i, j] = t
""",
        ("i", "j"),
        """\
var t: [f32; 2, M]
for i in 0 .. 2 do
  for j in 0 .. M do
    t[i, j] = 0.0
for gk in blocks (0 .. K) 2 do
  var s: [f32; 2, M, 2]
  for i'1 in 0 .. 2 do
    for j'1 in 0 .. M do
      for s_0 in 0 .. 2 do
        s[i'1, j'1, s_0] = 0.0
  for i'2 in 0 .. 2 do
    for j'2 in 0 .. M do
      for k in 0 .. gk.len do
        s[i'2, j'2, k] = load a[2 * gi + i'2, gk[k]] * load b[gk[k], j'2]
  for h in 0 .. gk.len do
    for h2 in 0 .. h + 1 do
      for i'3 in 0 .. 2 do
        for j'3 in 0 .. M do
          t[i'3, j'3] = t[i'3, j'3] + s[i'3, j'3, h2]
for i'4 in 0 .. 2 do
  for j'4 in 0 .. M do
    store ct[i'4, j'4] = t[i'4, j'4]
""",
    ),
    "guards, and a total that only some steps change": (
        """\
fn f (reads a: [f32; N, K]) (mut c: [f32; N, M]) =
  for i in 0 .. N do
    for j in 0 .. M do
      var t: f32 = 0.0
      var s: [f32; 3]
      for h in 0 .. 3 do
        s[h] = 1.0
      for k in 0 .. K do
        if k <= i then
          let x: f32 = load a[i, k]
          t = t + x
          for h2 in 0 .. 3 do
            s[h2] = x * s[h2]
        else
          s[0] = 2.0
      if j < 1 then
        t = s[2]
      store c[i, j] = t + s[1]
""",
        ("i", "j"),
        """\
var t: [f32; 2, M]
for i in 0 .. 2 do
  for j in 0 .. M do
    t[i, j] = 0.0
var s: [f32; 2, 3]
for i'1 in 0 .. 2 do
  for h in 0 .. 3 do
    s[i'1, h] = 1.0
for k in 0 .. K do
  var x: [f32; 2]
  for i'2 in 0 .. 2 do
    if k <= 2 * gi + i'2 then
      x[i'2] = load a[2 * gi + i'2, k]
  for i'3 in 0 .. 2 do
    for j'1 in 0 .. M do
      if k <= 2 * gi + i'3 then
        t[i'3, j'1] = t[i'3, j'1] + x[i'3]
  for i'4 in 0 .. 2 do
    for h2 in 0 .. 3 do
      if k <= 2 * gi + i'4 then
        s[i'4, h2] = x[i'4] * s[i'4, h2]
  for i'5 in 0 .. 2 do
    if 2 * gi + i'5 < k then
      s[i'5, 0] = 2.0
for i'6 in 0 .. 2 do
  for j'2 in 0 .. M do
    if j'2 < 1 then
      t[i'6, j'2] = s[i'6, 2]
for i'7 in 0 .. 2 do
  for j'3 in 0 .. M do
    store ct[i'7, j'3] = t[i'7, j'3] + s[i'7, 1]
""",
    ),
    "loops from and to where the rows and columns say": (
        """\
fn f (reads a: [f32; N, K]) (mut c: [f32; N, M]) =
  for i in 0 .. N do
    for j in 0 .. M do
      var t: f32 = 0.0
      var u: f32 = 0.0
      for k in max 0 (i - 2) .. min K (i + 1) do
        u = u + load a[i, k]
      for h in 0 .. 3 - j do
        t = t + u
      store c[i, j] = t
""",
        ("i", "j"),
        """\
var t: [f32; 2, M]
for i in 0 .. 2 do
  for j in 0 .. M do
    t[i, j] = 0.0
var u: [f32; 2]
for i'1 in 0 .. 2 do
  u[i'1] = 0.0
for k in max 0 (2 * gi - 2) .. min K (2 * gi + 2) do
  for i'2 in 0 .. 2 do
    if max 0 (2 * gi + i'2 - 2) <= k and k < K and k < 2 * gi + i'2 + 1 then
      u[i'2] = u[i'2] + load a[2 * gi + i'2, k]
for h in 0 .. 3 do
  for i'3 in 0 .. 2 do
    for j'1 in 0 .. M do
      if h < -j'1 + 3 then
        t[i'3, j'1] = t[i'3, j'1] + u[i'3]
for i'4 in 0 .. 2 do
  for j'2 in 0 .. M do
    store ct[i'4, j'2] = t[i'4, j'2]
""",
    ),
    "what a local that varies goes into varies, by way of a loop": (
        """\
fn f (reads a: [f32; N, M]) (mut c: [f32; N, M]) =
  for i in 0 .. N do
    for j in 0 .. M do
      var x: f32 = 1.0
      var z: f32 = 2.0
      for k in 0 .. 2 do
        x = x + z
        z = load a[i, j]
      store c[i, j] = x
""",
        ("i", "j"),
        """\
var x: [f32; 2, M]
for i in 0 .. 2 do
  for j in 0 .. M do
    x[i, j] = 1.0
var z: [f32; 2, M]
for i'1 in 0 .. 2 do
  for j'1 in 0 .. M do
    z[i'1, j'1] = 2.0
for k in 0 .. 2 do
  for i'2 in 0 .. 2 do
    for j'2 in 0 .. M do
      x[i'2, j'2] = x[i'2, j'2] + z[i'2, j'2]
  for i'3 in 0 .. 2 do
    for j'3 in 0 .. M do
      z[i'3, j'3] = load a[2 * gi + i'3, j'3]
for i'4 in 0 .. 2 do
  for j'4 in 0 .. M do
    store ct[i'4, j'4] = x[i'4, j'4]
""",
    ),
}
