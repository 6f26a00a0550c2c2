"""Both solvers in this process, straight on a text: what the tests compare the product with."""

from __future__ import annotations


def ask_z3(text: str) -> str:
    """Z3's answer to a script: sat, unsat or unknown."""
    import z3

    solver = z3.SimpleSolver(ctx=z3.Context())
    solver.set("rlimit", 20_000_000)
    solver.from_string(text)
    return str(solver.check())


def ask_cvc5(text: str) -> str:
    """The answer of cvc5 to a script: sat, unsat or unknown."""
    import cvc5

    terms = cvc5.TermManager()
    solver = cvc5.Solver(terms)
    solver.setOption("rlimit", "1000000")
    names = cvc5.SymbolManager(terms)
    parser = cvc5.InputParser(solver, names)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "script")
    said = []
    while not (command := parser.nextCommand()).isNull():
        said.append(command.invoke(solver, names).strip())
    (answer,) = [line for line in said if line]
    return answer.split()[0]


ASK = {"z3": ask_z3, "cvc5": ask_cvc5}
