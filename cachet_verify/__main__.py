"""`python -m cachet_verify`: the same as the command `cachet-verify`.

Takes the command line; gives the exit code.
Must not do anything else.
"""

import sys

from cachet_verify.cli import main

if __name__ == "__main__":
    sys.exit(main())
